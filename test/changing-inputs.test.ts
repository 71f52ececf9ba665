import { changingInputs } from "./changing-inputs.js";
import { describeBackends } from "./each-backend.js";

describeBackends("goes by what it was given", changingInputs);
