/** What a row's tokens must not depend on: the other rows of its call, and how many samples it draws. */
import type { Row } from "./batch.js";
import type { Invariance, Making, OptionalInput } from "./case.js";
import { distinct, inOrder, nearlyFlat, plainBatch, someSeed, takeRows, withRows } from "./rows.js";
import { sameTokens } from "./same-tokens.js";

const COMPARISON = { isComparison: true, needs: [] as readonly OptionalInput[] };
const TWO_ROWS = { rows: 2, vocabSize: 2 };

const repeatedCall: Invariance = {
  ...COMPARISON,
  name: "repeated-call",
  question: "Does the same call draw the same tokens again?",
  sizes: [{ rows: 4, vocabSize: 37 }, { rows: 3, vocabSize: 4099 }],
  smallest: { rows: 1, vocabSize: 2 },
  make(making) {
    const batch = plainBatch(making);
    const origin = inOrder(batch);
    return [sameTokens("the same call again", batch, () => [{ batch, origin }, { batch, origin }])];
  },
};

const permutation: Invariance = {
  ...COMPARISON,
  name: "batch-permutation",
  question: "Do rows in another order keep their tokens?",
  sizes: [{ rows: 5, vocabSize: 37 }, { rows: 16, vocabSize: 130 }, { rows: 3, vocabSize: 4099 }],
  smallest: TWO_ROWS,
  make(making) {
    const batch = plainBatch(making);
    const reversed = batch.rows.map((_, row) => making.rows - 1 - row);
    const orders = making.rows > 2 ? [reversed, making.random.order(making.rows)] : [reversed];
    return orders.map((origin) => sameTokens(`rows in the order ${origin.join(", ")}`, batch, () => [{ batch: takeRows(batch, origin), origin }]));
  },
};

/** What a neighbour may have instead. idle: what all rows have before, where the input has a value that changes nothing. */
interface Neighbour {
  readonly what: string;
  readonly needs?: OptionalInput;
  idle?(vocabSize: number): Partial<Row>;
  change(row: Row, making: Making): Partial<Row>;
}

const NEIGHBOURS: readonly Neighbour[] = [
  { what: "logits", change: (_, making) => ({ logits: nearlyFlat(making, making.vocabSize).map((logit) => 8 * logit) }) },
  { what: "logits of -Infinity", change: ({ logits }) => ({ logits: logits.map((logit, token) => (token === logits.length - 1 ? logit : -Infinity)) }) },
  { what: "temperatures", change: () => ({ temperature: 0.25 }) },
  { what: "seeds", change: ({ seed }, making) => ({ seed: seed + someSeed(making) }) },
  { what: "sequences", needs: "sequence", change: ({ sequence }, { random }) => ({ sequence: sequence + 1000 + random.below(1000) }) },
  { what: "positions", needs: "position", change: ({ position }, { random }) => ({ position: position + 1 + random.below(1000) }) },
  {
    what: "masks",
    needs: "mask",
    idle: (vocabSize) => ({ isAllowed: new Array<boolean>(vocabSize).fill(true) }),
    change: ({ logits }, { random }) => ({ isAllowed: Array.from(logits, (_, token) => token === 0 || random.below(4) === 0) }),
  },
  { what: "top-k", needs: "top-k", idle: (vocabSize) => ({ topK: vocabSize }), change: () => ({ topK: 1 }) },
  { what: "top-p", needs: "top-p", idle: () => ({ topP: 1 }), change: () => ({ topP: 0.25 }) },
];

const batchmates: Invariance = {
  ...COMPARISON,
  name: "batchmates",
  question: "Do changes of other rows leave a row its tokens?",
  sizes: [{ rows: 8, vocabSize: 130 }],
  smallest: TWO_ROWS,
  make(making) {
    const { rows, vocabSize, random, reads } = making;
    const plain = plainBatch(making);
    const order = random.order(rows);
    // Each row is changed once, and once it is one of those that look on: the first row is a special one for many.
    const halves = [order.slice(0, rows >> 1), order.slice(rows >> 1)].map((half) => new Set(half));
    return NEIGHBOURS.filter(({ needs }) => needs === undefined || reads.has(needs)).flatMap(({ what, idle, change }) => {
      const before = idle === undefined ? plain : withRows(plain, () => idle(vocabSize));
      return halves.map((changed) => {
        const after = withRows(before, (row, index) => (changed.has(index) ? change(row, making) : {}));
        return sameTokens(`other ${what} in ${rowsText(changed)}`, before, () => [{ batch: after, origin: plain.rows.map((_, row) => (changed.has(row) ? -1 : row)) }]);
      });
    });
  },
};

function rowsText(rows: ReadonlySet<number>): string {
  return `${rows.size === 1 ? "row" : "rows"} ${[...rows].sort((a, b) => a - b).join(", ")}`;
}

const alone: Invariance = {
  ...COMPARISON,
  name: "batch-alone",
  question: "Does a row draw alone what it draws among others?",
  sizes: [{ rows: 4, vocabSize: 37 }, { rows: 3, vocabSize: 1030 }],
  smallest: TWO_ROWS,
  make(making) {
    const batch = plainBatch(making);
    return [sameTokens("each row in a call of its own", batch, () => inOrder(batch).map((row) => ({ batch: takeRows(batch, [row]), origin: [row] })))];
  },
};

const split: Invariance = {
  ...COMPARISON,
  name: "batch-split",
  question: "Do rows keep their tokens in a call cut in two?",
  sizes: [{ rows: 9, vocabSize: 37 }, { rows: 20, vocabSize: 130 }],
  smallest: TWO_ROWS,
  make(making) {
    const batch = plainBatch(making);
    const rows = inOrder(batch);
    const cuts = [...new Set([1, Math.floor(rows.length / 2), rows.length - 1])];
    return cuts.map((cut) =>
      sameTokens(`cut into calls of ${cut} and ${rows.length - cut} rows`, batch, () =>
        [rows.slice(0, cut), rows.slice(cut)].map((origin) => ({ batch: takeRows(batch, origin), origin })),
      ),
    );
  },
};

/** Each row's own value against calls all of whose rows have that one: alone and among others is another question. */
function ownValue(value: string, question: string, needs: readonly OptionalInput[], logits: typeof nearlyFlat, valueOf: (making: Making, row: number) => Partial<Row>): Invariance {
  return {
    ...COMPARISON,
    name: `row-${value}s`,
    question,
    needs,
    sizes: [{ rows: 4, vocabSize: 37 }],
    smallest: TWO_ROWS,
    make(making) {
      const plain = withRows(plainBatch(making, logits), () => ({ sequence: 0 }));
      const values = plain.rows.map((_, row) => valueOf(making, row));
      const own = withRows(plain, (_, row) => values[row]!);
      const parts = values.map((changed, index) => ({ batch: withRows(plain, () => changed), origin: plain.rows.map((_, row) => (row === index ? row : -1)) }));
      return [sameTokens(`the ${value} of one row in all rows`, own, () => parts)];
    },
  };
}

const TEMPERATURES = [2, 0, 0.5, 1];

/** Beside other temperatures greedy rows once met -Infinity / T with a T that stood for zero. */
function distinctWithMasked(making: Making, vocabSize: number): Float32Array {
  return distinct(making, vocabSize).map((logit, token) => (vocabSize > 2 && token === 1 ? -Infinity : logit));
}

const nanRow: Invariance = {
  ...COMPARISON,
  name: "nan-row",
  question: "Does a row of NaN or Infinity leave others alone?",
  sizes: [{ rows: 4, vocabSize: 37 }, { rows: 3, vocabSize: 1030 }],
  smallest: TWO_ROWS,
  make(making) {
    const { rows, vocabSize, random } = making;
    const before = plainBatch(making);
    const [spoiled, place] = [random.below(rows), random.below(vocabSize)];
    const spoils: [what: string, logits: (logit: number, token: number) => number][] = [
      [`a NaN at token ${place}`, (logit, token) => (token === place ? NaN : logit)],
      ["NaN alone", () => NaN],
      [`+Infinity at token ${place}`, (logit, token) => (token === place ? Infinity : logit)],
      ["-Infinity alone", () => -Infinity],
    ];
    const origin = before.rows.map((_, row) => (row === spoiled ? -1 : row));
    return spoils.map(([what, spoil]) =>
      sameTokens(`row ${spoiled} with ${what}`, before, () => [{ batch: withRows(before, ({ logits }, row) => (row === spoiled ? { logits: logits.map(spoil) } : {})), origin }]),
    );
  },
};

const sampleCount: Invariance = {
  ...COMPARISON,
  name: "sample-count",
  question: "Do the first samples stay when more are drawn?",
  needs: ["samples"],
  sizes: [{ rows: 3, vocabSize: 37 }],
  smallest: { rows: 1, vocabSize: 2 },
  make(making) {
    const before = { ...plainBatch(making), numSamples: 9 };
    return [1, 2, 5, 16].map((numSamples) => sameTokens(`${numSamples} ${numSamples === 1 ? "sample" : "samples"} a row`, before, () => [{ batch: { ...before, numSamples }, origin: inOrder(before) }]));
  },
};

export const BATCHING: readonly Invariance[] = [
  repeatedCall,
  permutation,
  batchmates,
  alone,
  split,
  ownValue("seed", "Is each row's own seed used for it?", [], nearlyFlat, (making) => ({ seed: someSeed(making) })),
  ownValue("temperature", "Is each row's own temperature used for it?", [], distinctWithMasked, (_, row) => ({
    temperature: TEMPERATURES[row % TEMPERATURES.length]!,
  })),
  ownValue("position", "Is each row's own position used for it?", ["position"], nearlyFlat, ({ random }) => ({
    position: random.below(4096),
  })),
  ownValue("sequence", "Is each row's own sequence used for it?", ["sequence"], nearlyFlat, ({ random }) => ({
    sequence: random.below(4096),
  })),
  sampleCount,
  nanRow,
];
