import { InputText } from "../../coordinator/catalog/input-text.ts";

/** Returns the inputs of a batch as its route passes them on. */
export function inputTexts(inputs: readonly object[]): InputText[] {
  return inputs.map((input, index) => new InputText(`inputs.${index}`, JSON.stringify(input)));
}
