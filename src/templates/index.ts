// Named templates to pictures: what a template says of itself is in `designs/`, how it is drawn in `draw.ts`. The
// pictures are files of the `media` room; nothing here serves them.
export { templates } from "./designs/index.ts";
export { previewRoute } from "./preview.ts";
export { templateRoutes } from "./routes.ts";
export { createStudio } from "./studio.ts";
export type { Studio } from "./studio.ts";
