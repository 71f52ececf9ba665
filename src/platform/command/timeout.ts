/** Work that must answer in time. */

/** An Error named "TimeoutError": the verbs end at it, since a sampler that hangs once hangs again. */
function timeoutError(label: string, seconds: number, question: string): Error {
  const error = new Error(`"${label}" expected an answer within ${seconds} s, got none${question}`);
  error.name = "TimeoutError";
  return error;
}

/**
 * label: what does the work, for the message. cutOff: ends the work; what it throws after that says nothing new. question: ends the message
 * @throws what the work throws; an Error named "TimeoutError" when it takes longer
 */
export async function withinSeconds<Result>(label: string, seconds: number, work: Promise<Result>, cutOff: () => void = () => {}, question = ""): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(timeoutError(label, seconds, question));
      cutOff();
    }, seconds * 1000);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
