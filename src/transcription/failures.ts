// Why there is no transcript. Nothing is charged, whichever it is.

/** More waits to be transcribed than can be in a reasonable time. */
export class SpeechBusy extends Error {
  override name = "SpeechBusy";
  readonly retryAfterSeconds: number;

  constructor(message: string, { retryAfterSeconds = 30, ...options }: BusyOptions = {}) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface BusyOptions extends ErrorOptions {
  retryAfterSeconds?: number;
}

/** Whoever listens failed: the process here, or the provider. */
export class SpeechFailed extends Error {
  override name = "SpeechFailed";
}
