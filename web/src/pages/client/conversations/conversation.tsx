import type { Conversation, Message } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource, type Resource } from "../../../app/resource.ts";
import { navigate, type PageProps } from "../../../app/router.tsx";
import { useAction } from "../../../components/action.tsx";
import { ConfirmDialog, Dialog } from "../../../components/dialog.tsx";
import { goneIsDone } from "../../../components/error-message.ts";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { PageHead } from "../../../components/page-head.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Thread } from "./thread.tsx";

interface Loading {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  /** Number of older messages that are not shown. */
  readonly earlier: number;
}
const PAGE_SIZE = 100;

/** Reads the newest messages. Returns them oldest first. */
async function readNewest(id: string, most: number, signal: AbortSignal): Promise<Omit<Loading, "conversation">> {
  const pages = api().conversations.messages(id, { order: "desc", pageSize: PAGE_SIZE }, { signal });
  const first = await pages.page();
  const newest = [...first.data];
  while (newest.length < Math.min(most, first.meta.total)) {
    // oxlint-disable-next-line no-await-in-loop -- Each page begins where the last one ended.
    const { data } = await pages.page(newest.length);
    if (data.length === 0) break;
    newest.push(...data);
  }
  return { messages: newest.toReversed(), earlier: first.meta.total - newest.length };
}

export function ConversationPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  const [most, setMost] = useState(PAGE_SIZE);
  const read = useResource<Loading>(
    async (signal) => {
      const [conversation, newest] = await Promise.all([
        api().conversations.get(id, { signal }),
        readNewest(id, most, signal),
      ]);
      return { conversation, ...newest };
    },
    [id],
  );
  useEffect(() => {
    if (most > PAGE_SIZE) read.reload();
  }, [most]);
  return (
    <>
      <PageHead
        title={read.value?.conversation.title ?? "Conversation"}
        back={{ to: "/conversations", label: "Conversations" }}
        note={read.value?.conversation.model}
      >
        {read.value !== undefined && (
          <>
            <button type="button" class="button" onClick={() => setDialog("rename")}>
              Rename
            </button>
            <button type="button" class="button danger" onClick={() => setDialog("delete")}>
              Delete
            </button>
          </>
        )}
      </PageHead>
      <Loaded of={read} what="the conversation">
        {({ conversation, messages, earlier }) => (
          <Thread
            key={id}
            conversation={conversation}
            messages={messages}
            earlier={earlier}
            onEarlier={() => setMost(messages.length + PAGE_SIZE)}
            onChange={read.reload}
          />
        )}
      </Loaded>
      {dialog === "rename" && read.value !== undefined && (
        <Rename conversation={read.value.conversation} read={read} onClose={() => setDialog(null)} />
      )}
      {dialog === "delete" && <Delete id={id} onClose={() => setDialog(null)} />}
    </>
  );
}

function Rename({
  conversation,
  read,
  onClose,
}: {
  readonly conversation: Conversation;
  readonly read: Resource<Loading>;
  readonly onClose: () => void;
}) {
  const form = useForm(async (values) => {
    const title = values("title").trim();
    await api().conversations.update(conversation.id, { title: title === "" ? null : title });
    read.reload();
    onClose();
  });
  return (
    <Dialog title="Rename the conversation" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Title" error={form.errorOf("title")}>
          {(props) => <input {...props} name="title" defaultValue={conversation.title ?? ""} autocomplete="off" />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Delete({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const remove = useAction(async () => {
    await goneIsDone(api().conversations.delete(id));
    navigate("/conversations");
  });
  return (
    <ConfirmDialog title="Delete the conversation?" confirm="Delete permanently" action={remove} onClose={onClose}>
      <p>This also deletes its messages and cancels an answer in progress.</p>
    </ConfirmDialog>
  );
}
