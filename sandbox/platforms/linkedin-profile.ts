import type { Call } from "../call.ts";
import type { Frame } from "../service.ts";
import { send } from "../answer.ts";
import { apiCall } from "./linkedin-api.ts";
import { portrait } from "./linkedin-pages.ts";
import { fullName, memberOf } from "./linkedin-people.ts";
import type { Member } from "./linkedin-people.ts";
import { hasScope } from "./linkedin-state.ts";
import type { LinkedIn } from "./linkedin-state.ts";

const pictureLifeMs = 30 * 24 * 60 * 60 * 1000;

export function profileRoutes({ app, read }: Frame, linkedin: LinkedIn): void {
  app.get(
    "/v2/userinfo",
    read(
      "linkedin.userinfo",
      apiCall(linkedin, { name: "userinfo.GET", scope: "openid" }, (call, { member, token }) => ({
        accepted: false,
        status: 200,
        body: {
          sub: member.id,
          ...(hasScope(token, "profile") && {
            name: fullName(member),
            given_name: member.firstName,
            family_name: member.lastName,
            picture: pictureUrl(linkedin, call, member),
            locale: "en-US",
          }),
          ...(hasScope(token, "email") && { email: member.email, email_verified: true }),
        },
      })),
    ),
  );
  // The OpenID Connect scopes do not open this one: LinkedIn answers such a token 403.
  app.get(
    "/v2/me",
    read(
      "linkedin.me",
      apiCall(linkedin, { name: "me.GET", scope: "r_basicprofile" }, (_call, { member }) => ({
        accepted: false,
        status: 200,
        body: {
          id: member.id,
          localizedFirstName: member.firstName,
          localizedLastName: member.lastName,
          localizedHeadline: member.headline,
          firstName: localized(member.firstName),
          lastName: localized(member.lastName),
          headline: localized(member.headline),
          vanityName: member.vanityName,
        },
      })),
    ),
  );
  app.get("/dms/image/:id", async (request, reply) => {
    const { id } = request.params as { id: string };
    const { e: expiresAt } = request.query as { e?: string };
    const member = memberOf(id);
    const isExpired = !(linkedin.now() < Number(expiresAt) * 1000);
    if (!member || isExpired) return await send(reply, { status: member ? 403 : 404 });
    return await send(reply, portrait(member));
  });
}

/** Pictures are handed out by addresses that expire: whoever keeps one has to ask again. */
function pictureUrl({ now }: LinkedIn, { baseUrl }: Call, { id }: Member): string {
  return `${baseUrl}/dms/image/${id}?e=${Math.floor((now() + pictureLifeMs) / 1000)}`;
}

function localized(text: string): unknown {
  return {
    localized: { en_US: text },
    preferredLocale: { country: "US", language: "en" },
  };
}
