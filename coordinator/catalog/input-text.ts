import type { JobInput } from "../store/jobs/job-store.ts";

/** A validated input, in the form in which it is stored, priced and sent. */
export interface CheckedInput {
  readonly input: JobInput;
  readonly inputJson: string;
}

/** An input, with the field of the request that contains it. */
export type NamedInput = CheckedInput & { readonly root: string };

/** Returns the size of an input, for `mapInTurns`. */
export const charsOf = ({ inputJson }: Pick<CheckedInput, "inputJson">): number => inputJson.length;

/**
 * An input of a batch, kept only as JSON. `input` parses it at each use: the objects of 1 MB of JSON would live as long
 * as the request, and copying them would stop the event loop for 30 ms (2 cores, 2026-11).
 */
export class InputText implements NamedInput {
  readonly root: string;
  readonly inputJson: string;

  constructor(root: string, inputJson: string) {
    this.root = root;
    this.inputJson = inputJson;
  }

  get input(): JobInput {
    return JSON.parse(this.inputJson) as JobInput;
  }
}
