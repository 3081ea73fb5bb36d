import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { likelyLyrics } from "./lyrics.ts";
import type { LyricsHints } from "./lyrics.ts";

/** As an engine gives it: a segment for each line, or the text in one piece. */
const inLines = (text: string) => {
  const lines = text.trim().split("\n");
  const segments = lines.map((line, at) => ({ start: at * 3, end: at * 3 + 3, text: line.trim() }));
  return { text: lines.join(" "), segments };
};
const inOnePiece = (text: string) => ({
  text,
  segments: [{ start: 0, end: 20, text }],
});

const sung = {
  "a song with a chorus": inLines(`
    The harbour lights are fading on the water
    I count the boats that carry me from you
    And every mile the night is getting shorter
    And every star is something that we knew
    Oh carry me home, carry me home tonight
    Carry me home where the windows are bright
    I wrote your name in salt along the railing
    The morning took it back before the tide
    And if I learn to love the wind and sailing
    It's only that I lost you on my side
    Oh carry me home, carry me home tonight
    Carry me home where the windows are bright`),
  "a chorus as an engine that punctuates hears it": inOnePiece(
    "Shake it up, shake it up, all night long, you and me, we're dancing to the same old song. Shake it up, shake it " +
      "up, all night long, nobody here is going to tell us we're wrong.",
  ),
  "a rap without a chorus": inLines(`
    I came up from the corner with a pencil and a page
    Every line I ever drew was another kind of cage
    Now the bars are only music and the music is my wage
    Put a child before a speaker and he'll build himself a stage
    They were talking about weather, I was talking about flight
    Had a notebook full of thunder and I read it in the night
    Had a teacher who could see it and she taught me how to write
    Now I'm breaking every window just to let in all the light`),
  "notes around the lines": inLines(`
    ♪ Down by the river the willows lean low ♪
    ♪ Nobody told me that you had to go ♪
    ♪ Summer is over and silver is the snow ♪`),
  "headings of a song": inOnePiece(
    "[Verse 1]\nWalking through the empty town with nothing in my hand\n[Chorus]\nHold on to the river, hold on to the sand",
  ),
};

const spoken = {
  "a lecture": inOnePiece(
    "So what we found in the second year of the study was that most of the participants had changed their habits, " +
      "although they would not have said so themselves. That is interesting, because it means that the questionnaire " +
      "measured something else than we had intended. In the next part I will show you how we dealt with that problem.",
  ),
  "a conversation in short lines": inLines(`
    Hi, how was your weekend?
    Pretty good, thanks. We went hiking.
    Where did you go?
    Up to the lake behind the old mill.
    Was it crowded?
    Not really, it rained in the morning.
    And the kids liked it?
    They complained for an hour and then they loved it.`),
  "a speech with a refrain": inLines(`
    We will build schools, because every child in this country deserves a fair start.
    We will build hospitals, because nobody should have to drive a hundred miles to see a doctor.
    We will build railways, because the road alone does not carry us into the next century.
    And we will pay for it honestly, with a budget that you can read and a plan that you can hold us to.
    That is what this election is about, and that is what I ask you to decide on Sunday.`),
  "a podcast that begins with music": inLines(`
    [Music]
    Welcome back to the show, everybody, this is episode forty two.
    Today my guest is a beekeeper from the north of the country.
    We talk about winter losses, mites, and why honey prices have gone up.
    Before we start, a short word about last week's episode.
    Many of you wrote to me about the recording, and you were right.`),
  instructions: inLines(`
    First, unplug the machine and wait for ten minutes.
    Then remove the four screws at the back and lift the cover.
    You will see a small green board with two connectors.
    Pull the left connector gently and put the new part in its place.
    Put the cover back and tighten the screws, but not too much.
    Finally, plug the machine in and press the button twice.`),
  "a few words of a song": inOnePiece("Happy, happy, happy day"),
  "music without words": inOnePiece("♪♪ [Music] ♪♪"),
};

describe("a song is told from talk", () => {
  for (const [name, transcript] of Object.entries(sung))
    test(`${name} is likely lyrics`, () => assert.equal(likelyLyrics(transcript), true));
  for (const [name, transcript] of Object.entries(spoken))
    test(`${name} is not`, () => assert.equal(likelyLyrics(transcript), false));
});

test("words where the model hears no speech, again and again, are likely lyrics", () => {
  const hints: LyricsHints = { noSpeech: 0.8, compressionRatio: 2.9 };
  assert.equal(likelyLyrics(spoken["a lecture"], hints), true);
  assert.equal(likelyLyrics(spoken["a lecture"], { noSpeech: 0.8 }), false);
  assert.equal(likelyLyrics(spoken["a lecture"], { compressionRatio: 2.9 }), false);
});
