/**
 * Where the inputs of a receipt lie. A relative path stands for a place beside the receipt, as a link in a page does, whatever the
 * working directory: a folder with a receipt and its files can be moved.
 */
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { PLACE_FORM, type ReceiptPlaces } from "../verify/receipt.js";
import { scalesLocation } from "./draw.js";
import { localPath, type DrawInputs } from "./options.js";

/** receipt: the path of the file that will hold them. Left out: stdin, and names that no receipt holds. */
export function placesOf({ weights, tensor, scales, hidden, logits }: DrawInputs, receipt: string): ReceiptPlaces {
  const isFile = typeof scalesLocation(scales) === "object";
  const places = Object.entries({ weights: toPlace(weights, receipt), tensor, scales: isFile ? toPlace(scales, receipt) : scales, hidden: toPlace(hidden, receipt), logits: toPlace(logits, receipt) });
  return Object.fromEntries(places.filter(([, place]) => place !== undefined && PLACE_FORM.pattern.test(place)));
}

function toPlace(text: string | undefined, receipt: string): string | undefined {
  if (text === undefined || text === "-") return undefined;
  const path = localPath(text);
  if (path === null) return withoutSecrets(text);
  return isAbsolute(path) ? path : relative(dirname(receipt), path).split(sep).join("/");
}

/** A query may hold a key, and so may what stands before the host's name. */
export function withoutSecrets(address: string): string {
  const url = new URL(address);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

/** A place of a receipt, as a path or URL to open. receipt: the path or URL that it was read from. */
export function fromPlace(place: string, receipt: string): string {
  if (/^(https?|file):/i.test(place)) return place;
  const folder = localPath(receipt);
  if (folder === null) return new URL(place, receipt).href;
  return isAbsolute(place) ? place : join(dirname(folder), place);
}
