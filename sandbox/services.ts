import { fileHost } from "./file-host.ts";
import { payments } from "./payments/payments.ts";
import { linkedin } from "./platforms/linkedin.ts";
import type { Service } from "./service.ts";
import { speech } from "./speech/speech.ts";
import { workflow } from "./workflow.ts";

export const services: readonly Service[] = [workflow, linkedin, fileHost, speech, ...payments];
