import { fileTypeFromFile } from "file-type";
import sharp from "sharp";

export interface Size {
  width: number;
  height: number;
}

const maxPixels = 40_000_000;
// Of a picture that is much longer than it is high.
const maxSide = 4_096;
const kinds = new Set(["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"]);

/** Why a picture can't be used, in words for who named it. */
export class Unusable extends Error {}

async function scaled(path: string, canvas: Size): Promise<Uint8Array> {
  // Only the header is read: the number of pixels costs nothing here.
  const { autoOrient, hasAlpha } = await sharp(path, { limitInputPixels: false }).metadata();
  const { width, height } = autoOrient;
  if (width * height > maxPixels)
    throw new Unusable(`The picture has more than ${maxPixels} pixels`);
  const cover = Math.max(canvas.width / width, canvas.height / height);
  const scale = Math.min(1, cover, maxSide / Math.max(width, height));
  const picture = sharp(path, { limitInputPixels: maxPixels });
  const sized = picture.autoOrient().resize(Math.max(1, Math.round(width * scale)));
  return await (hasAlpha ? sized.png() : sized.jpeg({ quality: 92 })).toBuffer();
}

/** A file as it is drawn: turned upright, and no larger than it takes to cover the canvas. */
export async function prepareImage(path: string, canvas: Size): Promise<Uint8Array> {
  // By its bytes. A drawing (SVG) is a program of sorts: nobody runs it here.
  const type = await fileTypeFromFile(path);
  if (!type || !kinds.has(type.mime))
    throw new Unusable("This is no picture: PNG, JPEG, WebP, GIF and AVIF can be used");
  try {
    return await scaled(path, canvas);
  } catch (error) {
    if (error instanceof Unusable) throw error;
    throw new Unusable("The picture is broken and can't be read", { cause: error });
  }
}
