/**
 * A Cloudflare Worker that draws a token from logits:
 *   POST { "logits": [...], "seed": "1", "temperature": 0.8, "position": 0 }  ->  { "token": 3, "margin": 1.2, "seed": "1" }
 * Workers may not compile WebAssembly from bytes; the package's workerd entry imports its core as a module instead.
 */
import { sampleLogits } from "flash-sampling";

/** Bytes of a request: a vocabulary of 262,144 logits at 16 characters each. */
const BODY_LIMIT = 4 << 20;

export default {
  async fetch(request) {
    if (request.method !== "POST") return Response.json({ error: `"method" expected POST, got ${request.method}` }, { status: 405, headers: { allow: "POST" } });
    if (!(Number(request.headers.get("content-length") ?? NaN) <= BODY_LIMIT)) {
      return Response.json({ error: `"content-length" expected at most ${BODY_LIMIT}` }, { status: 413 });
    }
    try {
      const { logits, seed, temperature, sequence, position } = await request.json();
      if (!Array.isArray(logits)) throw new TypeError('"logits" expected an array of numbers, null for a masked token');
      const result = await sampleLogits({
        logits: Float32Array.from(logits, (logit) => logit ?? -Infinity),
        details: true,
        // A 64-bit seed travels as a string: JSON numbers end at 2^53.
        ...(seed !== undefined && { seed: typeof seed === "string" ? BigInt(seed) : seed }),
        ...(temperature !== undefined && { temperature }),
        ...(sequence !== undefined && { sequence }),
        ...(position !== undefined && { position }),
      });
      const { token, margin } = result.details[0];
      return Response.json({ token, margin, seed: String(result.seed) });
    } catch (error) {
      // What the caller sent was refused; anything else is a fault of this worker.
      const refused = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
      return Response.json({ error: error.message }, { status: refused ? 400 : 500 });
    }
  },
};
