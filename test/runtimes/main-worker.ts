/** For workers: answers every request with the report. */
import { report } from "./report.js";

export default {
  fetch: async () => new Response(JSON.stringify(await report())),
};
