import type { Conversation } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../../app/paged-list.ts";
import { useResource } from "../../../app/resource.ts";
import { Link, navigate } from "../../../app/router.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Field } from "../../../components/field.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { PageHead } from "../../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { Ago } from "../../../components/time.tsx";
import { VirtualTable, type Column } from "../../../components/virtual-table.tsx";
import { describeAvailability, mostAvailable } from "../playground/availability.ts";
import { readAvailability } from "../playground/use-availability.ts";

const COLUMNS: readonly Column<Conversation>[] = [
  {
    label: "Title",
    width: "minmax(10rem, 1fr)",
    cell: ({ id, title }) => <Link to={`/conversations/${id}`}>{title ?? "Untitled"}</Link>,
  },
  { label: "Model", width: "minmax(8rem, 14rem)", cell: ({ model }) => model, isExtra: true },
  { label: "Last message", width: "8rem", cell: (conversation) => <Ago at={conversation.updated_at} /> },
];

export function ConversationsPage() {
  const [isMaking, setMaking] = useState(false);
  const list = usePagedList<Conversation>(
    (offset, signal) => api().conversations.list({ pageSize: PAGE_SIZE }, { signal }).page(offset),
    ({ id }) => id,
    [],
  );
  return (
    <>
      <PageHead title="Conversations" note="Chats whose history the network stores for you.">
        <button type="button" class="button primary" onClick={() => setMaking(true)}>
          New conversation
        </button>
      </PageHead>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Conversations"
        what="the conversations"
        empty={
          <EmptyState title="No conversations yet">
            <p>To chat without a stored history, use the playground.</p>
          </EmptyState>
        }
      />
      {isMaking && <NewConversation onClose={() => setMaking(false)} />}
    </>
  );
}

function NewConversation({ onClose }: { readonly onClose: () => void }) {
  const models = useResource(async (signal) => {
    const [list, known] = await Promise.all([
      api().models.list({ signal }),
      readAvailability(signal).catch(() => null),
    ]);
    const chats = list.filter(({ type, alias_of: slug }) => type === "chat" && slug === null);
    const entries = chats.map(({ id }) => ({ slug: id, text: describeAvailability(known, id)?.text }));
    return { entries, first: mostAvailable(entries, known)?.slug };
  }, []);
  const form = useForm(async (values) => {
    const text = (name: string): string | null => {
      const value = values(name).trim();
      return value === "" ? null : value;
    };
    const { id } = await api().conversations.create({
      model: text("model"),
      title: text("title"),
      system_prompt: text("system_prompt"),
    });
    navigate(`/conversations/${id}`);
  });
  return (
    <Dialog title="New conversation" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Loaded of={models} what="the models">
          {({ entries, first }) => (
            <Field label="Model" error={form.errorOf("model")}>
              {(props) => (
                <select {...props} name="model">
                  {entries.map(({ slug, text }) => (
                    <option key={slug} value={slug} selected={slug === first}>
                      {text === undefined ? slug : `${slug} (${text})`}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )}
        </Loaded>
        <Field label="Title" isOptional error={form.errorOf("title")}>
          {(props) => <input {...props} name="title" autocomplete="off" />}
        </Field>
        <Field label="System prompt" isOptional error={form.errorOf("system_prompt")}>
          {(props) => <textarea {...props} name="system_prompt" rows={3} />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
