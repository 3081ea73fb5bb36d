import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import { identityRoutes, keyRoutes, meRoute } from "./auth/index.ts";
import {
  accountRoutes,
  accountsOf,
  connectionRoutes,
  openAccount,
  saveAuthorUrn,
} from "./connections/index.ts";
import { billingRoutes, creditRoutes, webhookRoute } from "./billing/index.ts";
import { businessRoutes, forwardRoute } from "./business/index.ts";
import type { Deps } from "./deps.ts";
import { healthRoutes, probeRoutes } from "./health.ts";
import { addressOf, createHttp, echoIdempotencyKeys, measureRequests } from "./http/index.ts";
import { countStranger, createBucketGuard, createGuard } from "./limits/index.ts";
import { directUploadRoute, mediaProxy, mediaRoutes } from "./media/index.ts";
import { postRoutes, publishNetworkRoute, releaseMedia } from "./posts/index.ts";
import { describeRoutes, referenceRoutes } from "./reference/index.ts";
import { previewRoute, templateRoutes, templates } from "./templates/index.ts";
import { transcriptionRoutes } from "./transcription/index.ts";
import { version } from "./version.ts";

/** Mounts a part of the service below its configured address; parts on hosts of their own answer there only. */
function mount(urls: Deps["config"]["urls"]) {
  const isSplit =
    new Set([urls.base, urls.functions, urls.web].map((url) => new URL(url).host)).size > 1;
  return (url: string, part: FastifyPluginAsync): [FastifyPluginAsync, { prefix: string }] => {
    const { host, pathname } = new URL(url);
    const plugin: FastifyPluginAsync = async (scope) => {
      if (isSplit) {
        scope.addHook("onRoute", (route) => {
          route.constraints = { ...route.constraints, host };
        });
      }
      await scope.register(part);
    };
    return [plugin, { prefix: pathname === "/" ? "" : pathname }];
  };
}

/** The whole service without a socket. */
export async function buildApp(deps: Deps): Promise<FastifyInstance> {
  const { config, gate, idTokens, metrics } = deps;
  const { urls } = config;
  const at = mount(urls);
  const app = createHttp({
    ...deps,
    guard: createGuard(gate, async (token) => await idTokens.verify(token)),
    rateHeaders: async (ip) => await countStranger(gate, ip),
  });
  echoIdempotencyKeys(app);
  measureRequests(app, metrics);
  const document = describeRoutes(app, { version, servers: [urls.base, urls.functions, urls.web] });

  const byAddress = createBucketGuard(gate, (request) => ({
    name: `media ${addressOf(request)}`,
    capacity: config.limits.mediaPerMinute,
    windowMs: 60_000,
  }));
  const media = {
    ...deps,
    releaseMedia,
    urls,
    limits: config.media,
  };
  const publicApi: FastifyPluginAsync = async (scope) => {
    await scope.register(healthRoutes(deps));
    await scope.register(referenceRoutes(document));
    await scope.register(meRoute, { prefix: "/v1" });
    await scope.register(keyRoutes(deps), { prefix: "/v1" });
    await scope.register(accountRoutes(deps, "apiKey"), { prefix: "/v1" });
    await scope.register(creditRoutes(deps, "apiKey"), { prefix: "/v1" });
    await scope.register(postRoutes({ ...deps, accountsOf }), { prefix: "/v1" });
    await scope.register(mediaRoutes(media), { prefix: "/v1" });
    await scope.register(directUploadRoute({ ...media, guard: byAddress }), { prefix: "/v1" });
    await scope.register(templateRoutes({ ...media, templates }), { prefix: "/v1" });
    await scope.register(previewRoute({ ...deps, templates, guard: byAddress }));
    await scope.register(transcriptionRoutes({ ...deps, limits: config.media }), { prefix: "/v1" });
    await scope.register(
      mediaProxy({ ...media, guard: byAddress, delivery: config.media.delivery }),
    );
  };

  const byFunctionKey = createBucketGuard(gate, (request) => ({
    name: `functions ${request.functionKey ?? addressOf(request)}`,
    capacity: config.limits.functionsPerMinute,
    windowMs: 60_000,
  }));
  const functions: FastifyPluginAsync = async (scope) => {
    scope.addHook("onRoute", (route) => {
      route.config = { errorExtras: { success: false }, ...route.config };
    });
    await scope.register(
      businessRoutes({ ...deps, keys: config.auth.functionKeys, guard: byFunctionKey }),
    );
    await scope.register(
      publishNetworkRoute({
        ...deps,
        accountsOf: async (userId) => (await accountsOf(deps.db, [userId]))[0] ?? [],
        openAccount: async (wanted) => await openAccount(deps, wanted),
        saveAuthorUrn: async (account, urn) => await saveAuthorUrn(deps.db, account, urn),
      }),
    );
    await scope.register(webhookRoute({ ...deps, ...deps.billing }));
    await scope.register(
      connectionRoutes({ ...deps, urls, returnToOrigins: config.connections.returnToOrigins }),
    );
  };

  const signIn = createBucketGuard(gate, (request) => ({
    name: `sign-in ${addressOf(request)}`,
    capacity: config.limits.signInPerMinute,
    windowMs: 60_000,
  }));
  const web: FastifyPluginAsync = async (scope) => {
    await scope.register(keyRoutes(deps), { prefix: "/api/v1" });
    await scope.register(accountRoutes(deps, "idToken"), { prefix: "/api/v1" });
    await scope.register(creditRoutes(deps, "idToken"), { prefix: "/api/v1" });
    await scope.register(billingRoutes({ ...deps, ...deps.billing, urls }), { prefix: "/api" });
    await scope.register(
      forwardRoute({
        ...deps,
        adminUsers: config.auth.adminUsers,
        send: deps.outbound.send,
        workflow: config.business.workflow,
      }),
      { prefix: "/api" },
    );
    await scope.register(identityRoutes({ ...deps, guard: signIn }), { prefix: "/api/auth" });
  };

  await app.register(probeRoutes(deps));
  await app.register(...at(urls.base, publicApi));
  await app.register(...at(urls.functions, functions));
  await app.register(...at(urls.web, web));
  return app;
}
