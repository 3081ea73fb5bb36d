import type { Service } from "./service.ts";
import { workflow } from "./workflow.ts";

export const services: readonly Service[] = [workflow];
