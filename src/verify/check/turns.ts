/** Turns of the event loop during long work: an abort must be able to arrive where nothing else waits. */

/**
 * Call the result with the size of each piece of work: it lets others run after every `limit` of it.
 * @throws the signal's reason, from the result
 */
export function createTurns(limit: number, signal?: AbortSignal): (work: number) => Promise<void> {
  let since = 0;
  return async (work) => {
    since += work;
    if (since < limit) return;
    since = 0;
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
  };
}
