import { beforeAfter } from "./before-after.ts";
import { carouselSlide } from "./carousel-slide.ts";
import { codeSnippet } from "./code-snippet.ts";
import { event } from "./event.ts";
import { headline } from "./headline.ts";
import { linkPreview } from "./link-preview.ts";
import { productCard } from "./product-card.ts";
import { quote } from "./quote.ts";
import { statistic } from "./statistic.ts";
import type { Template } from "../template.ts";
import { testimonial } from "./testimonial.ts";
import { tipList } from "./tip-list.ts";

export const templates: readonly Template[] = [
  quote,
  headline,
  tipList,
  statistic,
  beforeAfter,
  event,
  productCard,
  testimonial,
  codeSnippet,
  linkPreview,
  carouselSlide,
];
