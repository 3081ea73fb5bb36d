import type { Answer } from "../answer.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import type { App } from "./linkedin-apps.ts";
import { linkedinPage } from "./linkedin-layout.ts";
import { fullName, initials, members } from "./linkedin-people.ts";
import type { Member } from "./linkedin-people.ts";

const scopeMeanings: Record<string, string> = {
  openid: "Sign you in with your LinkedIn account",
  profile: "Use your name and photo",
  email: "Use the primary email address of your account",
  r_basicprofile: "Use your basic profile, including name, photo, headline and public address",
  w_member_social: "Create, modify and delete posts, comments and reactions on your behalf",
};

export interface Consent {
  app: App;
  scopes: readonly string[];
  redirectUri: string;
  /** The member whom this browser last was. */
  selectedId: string | undefined;
}

/** The form goes back to the address that showed it, so that the query says again what is asked for. */
export function consentPage({ app, scopes, redirectUri, selectedId }: Consent): Answer {
  const isSelected = ({ id }: Member): boolean => id === (selectedId ?? members[0]?.id);
  return linkedinPage(
    200,
    `Allow ${app.name}?`,
    html`<form class="card" method="post">
      <h1>${app.name} would like to use your LinkedIn account</h1>
      <span class="quiet">Application ${app.clientId}</span>
      <fieldset>
        <legend>Continue as</legend>
        ${members.map(
          (member) =>
            html`<label class="who">
              <input
                type="radio"
                name="member"
                value="${member.id}"
                ${isSelected(member) ? html`checked` : ""}
              />
              ${avatar(member)}
              <span>${fullName(member)}<small>${member.email}</small></span>
            </label>`,
        )}
      </fieldset>
      <b>${app.name} would be able to</b>
      <ul>
        ${scopes.map((scope) => html`<li>${scopeMeanings[scope] ?? ""} <code>${scope}</code></li>`)}
      </ul>
      <div class="buttons">
        <button name="decision" value="allow" class="main">Allow</button>
        <button name="decision" value="cancel">Cancel</button>
      </div>
      <p class="quiet">
        You will be sent to ${redirectUri}.
        <button name="decision" value="cancel-login" class="link">
          Cancel the sign-in instead
        </button>
      </p>
    </form>`,
  );
}

export function problemPage(status: number, problem: string): Answer {
  return linkedinPage(
    status,
    "Something went wrong",
    html`<section class="card">
      <h1>Something went wrong</h1>
      <p>${problem}</p>
    </section>`,
  );
}

export function avatar(member: Member): Html {
  return html`<span class="avatar" style="--hue: ${hue(member)}" aria-hidden="true"
    >${initials(member)}</span
  >`;
}

/** What a member's picture address shows. */
export function portrait(member: Member): Answer {
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
    <rect width="100" height="100" fill="hsl(${hue(member)} 45% 38%)" />
    <text x="50" y="64" font-family="sans-serif" font-size="38" text-anchor="middle" fill="#fff">
      ${initials(member)}
    </text>
  </svg>`;
  return { status: 200, headers: { "content-type": "image/svg+xml" }, body: picture.text };
}

function hue({ id }: Member): number {
  const index = members.findIndex((member) => member.id === id);
  return Math.round((210 + (index * 360) / members.length) % 360);
}
