//! What is created is of its own atom.

include!("sample.rs");

fn work(
    cx: &sample::desk_work::Context<'_>,
    input: &sample::desk_work::CreatePen,
) -> Result<quixos_runtime::Ref<sample::Page>, quixos_runtime::CallError> {
    let created = cx.create_pen(input)?;
    Ok(created)
}

fn main() {}
