import type { ErrorDetail } from "../errors.ts";
import type { ContentRules, Registry } from "../platforms/index.ts";
import type { Content } from "./schema.ts";
import type { Target } from "./targets.ts";

type Unit = NonNullable<ContentRules["text"]>["unit"];

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const lengthIn: Record<Unit, (text: string) => number> = {
  utf16: (text) => text.length,
  codePoint: (text) => Array.from(text).length,
  grapheme: (text) => [...graphemes.segment(text)].length,
  byte: (text) => Buffer.byteLength(text),
};

export type Kind = "text" | "image" | "video";

/** What kind of post the content makes, by what it brings. */
export function kindOf(content: Content): Kind {
  if (content.mediaType) return content.mediaType;
  if (content.videoUrl ?? content.originalVideoUrl) return "video";
  const media = [
    content.imageUrls,
    content.mediaUrls,
    content.mediaIds,
    content.originalImageUrls,
    content.originalMediaUrls,
    content.originalImageUrl ? [content.originalImageUrl] : undefined,
  ];
  return media.some((list) => list && list.length > 0) ? "image" : "text";
}

function problemsOn(
  { accepts, name }: { accepts: ContentRules; name: string },
  content: Content,
  kind: Kind,
): string[] {
  const problems: string[] = [];
  const text = content.text ?? "";
  if (!accepts.kinds.includes(kind)) problems.push(`${name} takes no ${kind} posts`);
  if (accepts.text) {
    const length = lengthIn[accepts.text.unit](text);
    if (length > accepts.text.max)
      problems.push(`${name} takes ${accepts.text.max} characters of text, this has ${length}`);
  }
  return problems;
}

/** What the platforms are certain to refuse, named by target: better told at the door than at the hour of publishing. */
export function breaksRules(
  content: Content,
  targets: readonly Target[],
  registry: Registry,
): ErrorDetail[] {
  const kind = kindOf(content);
  if (kind === "text" && !content.text?.trim()) {
    return [
      {
        field: "body.post.content",
        message: "There is nothing to publish: no text and no media",
        code: "empty_post",
      },
    ];
  }
  const platforms = new Set(targets.map((target) => target.platform));
  return [...platforms].flatMap((platform) => {
    const adapter = registry.get(platform);
    const messages = adapter
      ? problemsOn(adapter, content, kind)
      : [`${platform} can't be published to yet`];
    return messages.map((message) => ({
      field: "body.post.content",
      message,
      code: "platform_rule",
    }));
  });
}
