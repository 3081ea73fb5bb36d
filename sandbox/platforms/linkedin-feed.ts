import { send } from "../answer.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import type { Frame } from "../service.ts";
import { linkedinPage } from "./linkedin-layout.ts";
import { avatar, problemPage } from "./linkedin-pages.ts";
import { fullName, memberOf } from "./linkedin-people.ts";
import type { LinkedIn, Post } from "./linkedin-state.ts";

const postsPerPage = 50;

/** For people to look at. Nothing that is tested rests on them, so they are not journaled. */
export function feedRoutes({ app }: Frame, linkedin: LinkedIn): void {
  app.get("/feed", async (request, reply) => {
    const { start } = request.query as { start?: string };
    await send(reply, linkedinPage(200, "Feed", feed(linkedin, Number(start) || 0)));
  });
  for (const path of ["/feed/update/:urn", "/feed/update/:urn/"]) {
    app.get(path, async (request, reply) => {
      const { urn } = request.params as { urn: string };
      const post = linkedin.posts.get(urn);
      const answer = post
        ? linkedinPage(200, "Post", card(post, linkedin.now()))
        : problemPage(404, "This post cannot be displayed.");
      await send(reply, answer);
    });
  }
}

function feed(linkedin: LinkedIn, start: number): Html {
  const posts = Array.from(linkedin.posts.values()).toReversed();
  if (posts.length === 0) {
    return html`<p class="card">Nothing has been posted yet.</p>`;
  }
  const end = start + postsPerPage;
  return html`${posts.slice(start, end).map((post) => card(post, linkedin.now()))}
  ${end < posts.length ? html`<a href="/linkedin/feed?start=${end}">Older posts</a>` : ""}`;
}

function card({ urn, memberId, text, articleUrl, visibility, createdAt }: Post, now: number): Html {
  const member = memberOf(memberId);
  const at = new Date(createdAt).toISOString();
  const permalink = `/linkedin/feed/update/${urn}/`;
  return html`<article class="card">
    <div class="who">
      ${member ? avatar(member) : ""}
      <span
        ><b>${member ? fullName(member) : memberId}</b><small>${member?.headline ?? ""}</small
        ><small
          ><time datetime="${at}" title="${at}">${age(now - createdAt)}</time> ·
          ${visibility === "PUBLIC" ? "Anyone" : "Connections only"}</small
        ></span
      >
    </div>
    <div class="text">${marked(text)}</div>
    ${articleUrl ? html`<a class="article" href="${articleUrl}">${articleUrl}</a>` : ""}
    <footer>
      <code>${urn}</code>
      <a class="quiet" href="${permalink}">Link to this post</a>
    </footer>
  </article>`;
}

/** The text as it was sent, with its addresses and hashtags made visible. */
function marked(text: string): Html[] {
  return text.split(/(https?:\/\/\S+|#[\p{L}\p{N}_]+)/u).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return part.startsWith("#") ? html`<b>${part}</b>` : html`<a href="${part}">${part}</a>`;
  });
}

function age(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes === 0) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
