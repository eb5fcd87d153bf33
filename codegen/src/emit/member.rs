//! Members of an interface as methods: of the handle that a handler gets, and of the client that
//! a host uses. The two differ only in whom they ask and whether they wait.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::reference::Target;
use super::{Location, doc};
use crate::plan::{EdgePlan, EdgeShape, MemberKind, MemberPlan};

/// Whom the methods ask.
pub(super) struct Asked {
    /// `pub fn` or `pub async fn`
    pub(super) head: TokenStream,
    /// `self.call` or `self.session`
    pub(super) whom: TokenStream,
    /// What comes before the position of the member: the requirement, or the object and the
    /// interface.
    pub(super) before: TokenStream,
    /// What comes behind it: the object, if it did not come before.
    pub(super) behind: TokenStream,
    /// `.await`, if the methods wait.
    pub(super) wait: TokenStream,
}

impl Asked {
    /// Writes the methods of a member.
    pub(super) fn methods(&self, here: &Location<'_>, member: &MemberPlan) -> TokenStream {
        let Self { head, whom, wait, .. } = self;
        let docs = doc::citation(&member.citation);
        let method = &member.method;
        let at = self.at(member);
        match &member.kind {
            MemberKind::State(ty) => {
                let ty = here.ty(ty);
                quote! {
                    #docs
                    #head #method(&self) -> Result<#ty, CallError> {
                        #whom.member_get(#at)#wait
                    }
                }
            }
            MemberKind::Stream(ty) => {
                let ty = here.ty(ty);
                quote! {
                    #docs
                    #head #method(&self, from: u64, limit: usize) -> Result<Vec<#ty>, CallError> {
                        #whom.member_read(#at, from, limit)#wait
                    }
                }
            }
            MemberKind::Operation { input, output } => {
                let (taken, passed) = match input {
                    Some(ty) => {
                        let (ty, passed) = here.argument(&format_ident!("input"), ty);
                        (quote! { , input: #ty }, passed)
                    }
                    None => (quote! {}, quote! { &() }),
                };
                let output = here.ty(output);
                quote! {
                    #docs
                    #head #method(&self #taken) -> Result<#output, CallError> {
                        #whom.member_call(#at, #passed)#wait
                    }
                }
            }
            MemberKind::Edge { edge, find, page } => {
                let mut methods = self.edge(here, member, edge);
                if let (Some(find), Some(page)) = (find, page) {
                    methods.extend(self.of_many(here, member, edge, find, page));
                }
                methods
            }
        }
    }

    /// The arguments that say which member of which object.
    fn at(&self, member: &MemberPlan) -> TokenStream {
        let Self { before, behind, .. } = self;
        let position = Literal::usize_unsuffixed(member.position);
        quote! { #before, #position #behind }
    }

    /// The method that returns all targets.
    fn edge(&self, here: &Location<'_>, member: &MemberPlan, edge: &EdgePlan) -> TokenStream {
        let Self { head, whom, wait, .. } = self;
        let docs = doc::citation(&member.citation);
        let method = &member.method;
        let at = self.at(member);
        let target = Target::new(here, &edge.target);
        let ty = &target.written;
        let (answer, body) = match edge.shape {
            EdgeShape::One => (quote! { #ty }, target.one(quote! { #whom.member_one(#at)#wait })),
            EdgeShape::OptionalOne => (
                quote! { Option<#ty> },
                target.optional(quote! { #whom.member_optional(#at)#wait }),
            ),
            EdgeShape::Many => (
                quote! { Vec<#ty> },
                target.list(quote! { #whom.member_targets(#at, None, usize::MAX)#wait }),
            ),
            EdgeShape::Keyed => (
                quote! { Entries<#ty> },
                target.entries(quote! { #whom.member_entries(#at, None, usize::MAX)#wait }),
            ),
        };
        quote! {
            #docs
            #head #method(&self) -> Result<#answer, CallError> { #body }
        }
    }

    /// The methods that find a target among many, and that return some of them.
    fn of_many(
        &self,
        here: &Location<'_>,
        member: &MemberPlan,
        edge: &EdgePlan,
        find: &Ident,
        page: &Ident,
    ) -> TokenStream {
        let Self { head, whom, wait, .. } = self;
        let at = self.at(member);
        let target = Target::new(here, &edge.target);
        let ty = &target.written;
        let name = &member.method;
        if edge.shape == EdgeShape::Keyed {
            let find_docs = doc::sentence(&format!("Returns what [`Self::{name}`] has at a key."));
            let page_docs = doc::sentence(&format!(
                "Returns at most `limit` of [`Self::{name}`], from behind a key."
            ));
            let found = target.list(quote! { #whom.member_at(#at, key)#wait });
            let entries = target.entries(quote! { #whom.member_entries(#at, after, limit)#wait });
            return quote! {
                #find_docs
                #head #find(&self, key: &str) -> Result<Vec<#ty>, CallError> { #found }

                #page_docs
                #head #page(
                    &self,
                    after: Option<&str>,
                    limit: usize,
                ) -> Result<Entries<#ty>, CallError> {
                    #entries
                }
            };
        }
        let find_docs = doc::sentence(&format!("Tells whether `target` is in [`Self::{name}`]."));
        let page_docs = doc::sentence(&format!(
            "Returns at most `limit` of [`Self::{name}`], from behind one of them."
        ));
        let (taken, passed) = target.parameter();
        let after = target.optional_parameter(quote! { after });
        let list = target.list(quote! { #whom.member_targets(#at, #after, limit)#wait });
        quote! {
            #find_docs
            #head #find(&self, target: #taken) -> Result<bool, CallError> {
                #whom.member_contains(#at, #passed)#wait
            }

            #page_docs
            #head #page(&self, after: Option<#ty>, limit: usize) -> Result<Vec<#ty>, CallError> {
                #list
            }
        }
    }
}
