/**
 * A program that samples on the backend of its first argument, prints the outcome as JSON, and ends in the way that its
 * second one says: "disposed", "kept", "thrown", "exit".
 */
import { createSmallSampler, SMALL_CALL, sampleSmall } from "./small-head.js";

const [backend, end] = process.argv.slice(2) as [Parameters<typeof createSmallSampler>[0], string];

if (end === "disposed") {
  console.log(JSON.stringify(await sampleSmall(backend)));
} else {
  const sampler = await createSmallSampler(backend);
  const { tokens } = await sampler.sample(SMALL_CALL);
  console.log(JSON.stringify({ backend: sampler.backend, tokens: [...tokens] }));
  void sampler.sample(SMALL_CALL); // under way while the program ends
  if (end === "thrown") throw new Error("thrown mid-way");
  if (end === "exit") process.exit(0);
}
