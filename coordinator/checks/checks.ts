import type { Clock } from "../../shared/clock.ts";
import { type FieldError, MAX_DETAILS, ServiceError, ValidationError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { importToolCheck } from "../../shared/grammar/call-schema.ts";
import { mapInTurns } from "../../shared/async/own-turn.ts";
import type { CargoFile } from "../catalog/cargo-fields.ts";
import { type CheckedCargo, inputErrors, inputSteps, prepareInput, withRoot } from "../catalog/input-check.ts";
import { charsOf, type NamedInput, InputText } from "../catalog/input-text.ts";
import { inputSchemas, TOO_COSTLY } from "../catalog/input-schema.ts";
import { MAX_LOOP_STEPS, MAX_STEPS } from "../catalog/schema-rules.ts";
import { type Answer, answerSteps, type AnswerVerdict, judgeAnswer, judgeStopped } from "./answer-check.ts";
import { checkBudgets } from "./check-budget.ts";
import type { CheckKind, CheckParams, CheckResult } from "./check-tasks.ts";
import { CheckStopped, ChecksClosed, openCheckThread } from "./check-thread.ts";
import type { Likeness } from "./likeness.ts";

type Schema = Readonly<Record<string, unknown>>;

/** An input before its check, with the field of the request that contains it. Inputs of batches are `InputText`. */
export type GivenInput = Pick<NamedInput, "root" | "input"> & Partial<Pick<NamedInput, "inputJson">>;

interface WeighedInput {
  readonly named: NamedInput;
  /** Number of steps of its check. */
  readonly steps: number;
}

/** Maximum characters of JSON that a check parses. A character takes at most 22 bytes of memory. */
const MAX_PARSED_CHARS = 8 * MIB;

/** Returns whether checks with this number of steps may run on the event loop. All others run in a thread. */
const isCheap = (steps: number): boolean => steps <= MAX_LOOP_STEPS;

export type Checks = ReturnType<typeof openChecks>;

/**
 * Checks texts of strangers against schemas of strangers. Cheap checks run at once, so that usual requests and results
 * wait for nothing. Others run in a thread, with a limit for each check and a budget for each account.
 */
export function openChecks(clock: Pick<Clock, "schedule" | "monotonicMs">, budgets = checkBudgets(clock)) {
  const thread = openCheckThread(clock, budgets);

  /** Runs a check for a request. `stopped` returns the result of a check that takes too long. */
  async function inThread<K extends CheckKind>(
    accountId: string,
    kind: K,
    params: CheckParams<K>,
    stopped: () => CheckResult<K>,
  ): Promise<CheckResult<K>> {
    try {
      return await thread.run(accountId, kind, params);
    } catch (error) {
      if (error instanceof CheckStopped) return stopped();
      if (!(error instanceof ChecksClosed)) throw error;
      throw new ServiceError("shutting_down", "The coordinator is restarting. Try again in a moment");
    }
  }

  async function checkInThread(
    accountId: string,
    cargo: CheckedCargo,
    inputs: readonly WeighedInput[],
  ): Promise<FieldError[]> {
    const { isChat, inputSchema, slug, contextTokens, reasoning, projector, readsImages } = cargo;
    const sent = { isChat, inputSchema, slug, contextTokens, reasoning, projector, readsImages } as CheckedCargo;
    const details: FieldError[] = [];
    for (const part of partsOf(inputs)) {
      budgets.assertLeft(accountId);
      const params = { cargo: sent, inputs: part.map(({ named }) => named.inputJson) };
      // Each part must pass before the next one uses the thread.
      // oxlint-disable-next-line no-await-in-loop
      const findings = await inThread(accountId, "inputs", params, () => [{ errors: [TOO_COSTLY], toolCheck: null }]);
      findings.forEach(({ errors, toolCheck }, index) => {
        details.push(...withRoot(errors, part[index]?.named.root ?? "input"));
        if (toolCheck !== null) importToolCheck(toolCheck);
      });
      if (details.length >= MAX_DETAILS) break;
    }
    return details;
  }

  /** Checks inputs whose sum may be large, in several turns of the event loop. */
  async function batchInputs(
    accountId: string,
    cargo: CheckedCargo,
    inputs: readonly GivenInput[],
  ): Promise<readonly NamedInput[]> {
    const weighed = await mapInTurns(
      inputs,
      ({ inputJson = "" }) => inputJson.length,
      (given): WeighedInput => {
        const checked = prepareInput(cargo, given.input, given.inputJson);
        return { named: new InputText(given.root, checked.inputJson), steps: inputSteps(cargo, checked) };
      },
    );
    const all = weighed.map(({ named }) => named);
    if (!isCheap(weighed.reduce((sum, { steps }) => sum + steps, 0)))
      return passed(all, await checkInThread(accountId, cargo, weighed));
    const errors = await mapInTurns(all, charsOf, (named) => withRoot(inputErrors(cargo, named), named.root));
    return passed(all, errors.flat());
  }

  return {
    /**
     * Checks the inputs of a submission, see `checkInput`. Returns a promise for a batch, and for an expensive input.
     * @throws {ValidationError} with the errors of every input; {@link RateLimitedError} if the account has used its
     * budget
     */
    inputs(
      accountId: string,
      cargo: CheckedCargo,
      inputs: readonly GivenInput[],
    ): readonly NamedInput[] | Promise<readonly NamedInput[]> {
      const [first, ...others] = inputs;
      if (first === undefined || others.length > 0) return batchInputs(accountId, cargo, inputs);
      const { root, input, inputJson } = first;
      const checked = prepareInput(cargo, input, inputJson);
      const steps = inputSteps(cargo, checked);
      const named = { ...checked, root };
      if (isCheap(steps)) return passed([named], withRoot(inputErrors(cargo, checked), root));
      return checkInThread(accountId, cargo, [{ named, steps }]).then((details) => passed([named], details));
    },
    /**
     * Returns whether a completion is as requested. Returns a promise only if that is expensive, which rejects with
     * {@link ChecksClosed} when the coordinator stops.
     */
    answer(accountId: string, answer: Answer): AnswerVerdict | Promise<AnswerVerdict> {
      if (isCheap(answerSteps(answer))) return judgeAnswer(answer);
      const { text, calls, ...rest } = answer;
      const chars = calls.reduce((sum, call) => sum + call.function.arguments.length, text.length);
      if (chars > MAX_PARSED_CHARS) return judgeStopped(answer);
      return thread.run(accountId, "answer", { text, calls, json: JSON.stringify(rest) }).catch((error: unknown) => {
        if (error instanceof CheckStopped) return judgeStopped(answer);
        throw error;
      });
    },
    /** Returns whether an output fits its Cargo's schema, as `answer` does. An output that is too expensive fits. */
    output(accountId: string, schema: Schema, value: unknown): boolean | Promise<boolean> {
      const text = typeof value === "string" ? value : null;
      const json = text === null ? JSON.stringify(value) : "";
      const bytes = text?.length ?? json.length;
      if (isCheap(inputSchemas.stepsOf(schema, value, bytes))) return inputSchemas.fits(schema, value, bytes);
      if (json.length > MAX_PARSED_CHARS) return true;
      return thread.run(accountId, "output", { schema, text, json }).catch((error: unknown) => {
        if (error instanceof CheckStopped) return true;
        throw error;
      });
    },
    /** Compares results of two runs of a job, given as JSON. `unsure` if that takes too long. */
    results(accountId: string, a: string, b: string, isExact: boolean): Promise<Likeness> {
      return inThread(accountId, "results", { a, b, isExact }, () => "unsure");
    },
    /** Returns the errors of schemas that `readCargo` leaves out as too expensive; null if the Cargo has no such schema. */
    cargo(accountId: string, file: CargoFile): Promise<FieldError[]> | null {
      const { input_schema: input, output_schema: output, example_input } = file;
      const example = JSON.stringify(example_input);
      const isExpensive = (schema: Schema | undefined, value: unknown, bytes: number): schema is Schema =>
        schema !== undefined && !isCheap(inputSchemas.stepsOf(schema, value, bytes));
      const schemas = [
        ...(isExpensive(input, example_input, example.length)
          ? [{ field: "input_schema", schema: input, example }]
          : []),
        ...(isExpensive(output, null, 0) ? [{ field: "output_schema", schema: output, example: null }] : []),
      ];
      if (schemas.length === 0) return null;
      budgets.assertLeft(accountId);
      const all = schemas.map(async ({ field, schema, example: json }) => {
        const { ofSchema, ofExample } = await inThread(accountId, "schema", { schema, example: json }, () => ({
          ofSchema: [{ path: "", message: "takes too long to compile; use fewer subschemas" }],
          ofExample: [],
        }));
        return [...withRoot(ofSchema, field), ...withRoot(ofExample, "example_input")];
      });
      return Promise.all(all).then((errors) => errors.flat());
    },
    close: () => thread.close(),
  };
}

/** Divides inputs into parts that a thread checks one after another: each is one input, or within the limit of one. */
function partsOf<T extends { readonly steps: number }>(inputs: readonly T[]): T[][] {
  const parts: T[][] = [];
  let left = 0;
  for (const input of inputs) {
    if (left < input.steps || parts.length === 0) {
      parts.push([]);
      left = MAX_STEPS;
    }
    parts.at(-1)?.push(input);
    left -= input.steps;
  }
  return parts;
}

function passed(inputs: readonly NamedInput[], details: readonly FieldError[]): readonly NamedInput[] {
  if (details.length > 0) throw new ValidationError(details);
  return inputs;
}
