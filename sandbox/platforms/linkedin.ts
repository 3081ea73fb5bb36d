import type { Service } from "../service.ts";
import { authorizeRoutes } from "./linkedin-authorize.ts";
import { feedRoutes } from "./linkedin-feed.ts";
import { profileRoutes } from "./linkedin-profile.ts";
import { settingsRoutes } from "./linkedin-settings.ts";
import { stateOf } from "./linkedin-state.ts";
import { tokenRoutes } from "./linkedin-tokens.ts";
import { ugcRoutes } from "./linkedin-ugc.ts";

/**
 * LinkedIn for members who post text: OAuth, profiles, UGC posts, and a feed to look at (`/linkedin/feed`).
 *
 *     authorization  /linkedin/oauth/v2/authorization       userinfo  /linkedin/v2/userinfo
 *     access token   /linkedin/oauth/v2/accessToken         profile   /linkedin/v2/me
 *     introspect     /linkedin/oauth/v2/introspectToken     posts     /linkedin/v2/ugcPosts
 *     revoke         /linkedin/oauth/v2/revoke              permalink /linkedin/feed/update/{urn}/
 *
 * The app is `sandbox-linkedin` with the secret `sandbox-linkedin-secret` (others: linkedin-apps.ts). To connect an
 * account without a browser, POST the consent form to the very address that the app sends its user to; the Location
 * of the 302 is the app's callback with `code` and `state`:
 *
 *     curl -i "$authorization_address_with_its_query" -d decision=allow -d member=Ada1815_Lv
 *
 * `decision` is allow, cancel or cancel-login; the members are in linkedin-people.ts. Day quotas and registered
 * redirect addresses are set at `/linkedin/_control`, the time at `/_sandbox/clock`.
 */
export const linkedin: Service = {
  name: "linkedin",
  basePath: "/linkedin",
  routes(frame) {
    const state = stateOf(frame);
    authorizeRoutes(frame, state);
    tokenRoutes(frame, state);
    profileRoutes(frame, state);
    ugcRoutes(frame, state);
    feedRoutes(frame, state);
    settingsRoutes(frame, state);
  },
};
