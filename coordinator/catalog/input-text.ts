import type { JobInput } from "../store/jobs/job-store.ts";
import type { NamedInput } from "./input-check.ts";

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
