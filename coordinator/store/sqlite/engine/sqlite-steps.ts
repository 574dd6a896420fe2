import { runBody, type RunStep } from "../../steps/steps.ts";
import { SqliteTx, type PreparedStatements } from "./sqlite-tx.ts";

interface StepThread {
  runStep(step: string, args: readonly unknown[]): Promise<unknown>;
}

/** Runs reads here with `statements`, expensive ones in the reader's thread and writes in the writer's. */
export function sqliteSteps(statements: PreparedStatements, reader: StepThread, writer: StepThread): RunStep {
  const tx = new SqliteTx(statements, null);
  return (name, step, args) => {
    if (step.kind === "read") return runBody(step, tx, args);
    return (step.kind === "pageRead" ? reader : writer).runStep(name, args);
  };
}
