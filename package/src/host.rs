//! The operations of the host package: a workspace to install agents in, and documents that they
//! can be asked about.

mod document_can_present;
mod document_edit;
mod workspace_create_document;
mod workspace_rename;
