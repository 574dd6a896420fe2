import { InferenceSession, Tensor } from "onnxruntime-node";
import { JobFailure } from "../../../shared/errors.ts";
import { type ExecutionProvider, LOG_FATAL_ONLY } from "../onnx/execution-providers.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { slotsOf, type TensorSlot } from "../onnx/tensor-feeds.ts";
import { type Elements, readElements, writeElements } from "./tensor-elements.ts";

export interface GraphOptions {
  readonly modelPath: string;
  readonly providers: readonly ExecutionProvider[];
  readonly threads: number;
}

/** Numbers with the shape `dims`, row-major. */
export interface NumberGrid {
  readonly data: Elements;
  readonly dims: readonly number[];
}

/** One network of a pipeline. Takes and returns plain numbers for all element types of its graph. */
export class PipelineGraph {
  /** Folder of the network, for messages, such as "unet". */
  readonly part: string;
  readonly #session: InferenceSession;
  readonly #modelPath: string;
  readonly #inputs: ReadonlyMap<string, TensorSlot>;
  readonly #outputs: readonly TensorSlot[];

  private constructor(part: string, session: InferenceSession, modelPath: string) {
    this.part = part;
    this.#session = session;
    this.#modelPath = modelPath;
    this.#inputs = new Map(slotsOf(session.inputMetadata).map((slot) => [slot.name, slot]));
    this.#outputs = slotsOf(session.outputMetadata);
  }

  /** @throws {JobFailure} `model_invalid` naming the part. */
  static async open(
    part: string,
    file: string,
    { modelPath, providers, threads }: GraphOptions,
  ): Promise<PipelineGraph> {
    try {
      const session = await InferenceSession.create(file, {
        executionProviders: [...providers],
        intraOpNumThreads: threads,
        interOpNumThreads: 1,
        logSeverityLevel: LOG_FATAL_ONLY,
      });
      return new PipelineGraph(part, session, modelPath);
    } catch (error) {
      throw onnxFailure("model_invalid", `ONNX Runtime refused ${part}`, error, modelPath);
    }
  }

  get inputNames(): readonly string[] {
    return [...this.#inputs.keys()];
  }

  get outputNames(): readonly string[] {
    return this.#outputs.map(({ name }) => name);
  }

  /** Returns the sizes of an input's dimensions, null for a dynamic one; undefined if there is no such input. */
  inputDims(name: string): readonly (number | null)[] | undefined {
    // ONNX Runtime reports -1 for a dimension with neither number nor name.
    return this.#inputs.get(name)?.shape.map((size) => (typeof size === "number" && size >= 0 ? size : null));
  }

  /**
   * Runs the graph once. Feeds without a matching input are ignored.
   * @throws {JobFailure} `model_invalid` when the run fails, or an input is not in `feeds`.
   */
  async run(
    feeds: Readonly<Record<string, NumberGrid>>,
  ): Promise<Map<string, { data: Float32Array; dims: readonly number[] }>> {
    try {
      const tensors: Record<string, Tensor> = {};
      for (const [name, { type }] of this.#inputs) {
        const feed = feeds[name];
        if (feed === undefined) throw new JobFailure("model_invalid", `${this.part} has an unknown input ${name}`);
        const data = writeElements(type, feed.data);
        if (data === null)
          throw new JobFailure("model_invalid", `${this.part} has an input ${name} of the unsupported type ${type}`);
        const tensor = new Tensor(type, data, [...feed.dims]);
        // onnxruntime-node 1.30 stores float16 as a Float16Array where Node has it, and then cannot read it.
        tensors[name] = type === "float16" ? Object.assign(tensor, { cpuData: data }) : tensor;
      }
      const results = await this.#session.run(tensors);
      return new Map(
        Object.entries(results).map(([name, { data, dims }]) => [name, { data: readElements(data), dims: [...dims] }]),
      );
    } catch (error) {
      throw onnxFailure("model_invalid", `${this.part} failed`, error, this.#modelPath);
    }
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}
