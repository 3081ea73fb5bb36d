import type { Logger } from "pino";

/** The first SIGTERM or SIGINT stops in order; a second one, or 30 seconds, ends the process at once. */
export function stopOnSignals(log: Logger, stop: () => Promise<void>): void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => process.exit(1), 30_000).unref();
    stop().then(
      () => {
        log.info("stopped");
        process.exitCode = 0;
      },
      (error: unknown) => {
        log.fatal({ err: error }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
