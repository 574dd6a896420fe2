import { InferenceSession, Tensor } from "onnxruntime-node";
import { JobFailure } from "../../../shared/errors.ts";
import type { ExecutionProvider } from "../onnx/execution-providers.ts";
import { onnxFailure } from "../onnx/onnx-failure.ts";
import { slotsOf, type TensorSlot } from "../onnx/tensor-feeds.ts";
import { type Elements, readElements, writeElements } from "./tensor-elements.ts";

/** ONNX Runtime's log level at which only what ends the process is written; what is wrong is thrown as well. */
const FATAL_ONLY = 4;

export interface GraphOptions {
  readonly modelPath: string;
  readonly providers: readonly ExecutionProvider[];
  /** CPU threads of one operator. */
  readonly threads: number;
}

/** Numbers in the shape `dims`, the last dimension fastest. */
export interface NumberGrid {
  readonly data: Elements;
  readonly dims: readonly number[];
}

/** One network of a pipeline. Takes and gives plain numbers, whatever type its graph has. */
export class PipelineGraph {
  /** Its folder, for messages: "unet". */
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
        logSeverityLevel: FATAL_ONLY,
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

  /** Sizes of an input's dimensions, null where any will do; undefined without such an input. */
  inputDims(name: string): readonly (number | null)[] | undefined {
    // ONNX Runtime tells a size of -1 where the graph has neither number nor name.
    return this.#inputs.get(name)?.shape.map((size) => (typeof size === "number" && size >= 0 ? size : null));
  }

  /**
   * Runs the graph once. Inputs that it does not have are left out.
   * @throws {JobFailure} `model_invalid` when it fails, or lacks what it needs.
   */
  async run(
    feeds: Readonly<Record<string, NumberGrid>>,
  ): Promise<Map<string, { data: Float32Array; dims: readonly number[] }>> {
    try {
      const tensors: Record<string, Tensor> = {};
      for (const [name, { type }] of this.#inputs) {
        const feed = feeds[name];
        if (feed === undefined)
          throw new JobFailure("model_invalid", `${this.part} asks for ${name}, which is not known`);
        const data = writeElements(type, feed.data);
        if (data === null) throw new JobFailure("model_invalid", `${this.part} wants ${name} in ${type}`);
        const tensor = new Tensor(type, data, [...feed.dims]);
        // onnxruntime-node 1.30 keeps float16 as a Float16Array where there is such a thing, and then cannot read it.
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
