#if canImport(SwiftUI)
    public import SwiftUI
    internal import Tombolo
    internal import TomboloObservables

    /// A search field that limits the objects of `@ObservedResults` to those whose property contains the search text.
    extension View {
        public func searchable<Element>(
            text: Binding<String>, collection: ObservedResults<Element>, keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: Text? = nil
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        public func searchable<Element>(
            text: Binding<String>, collection: ObservedResults<Element>, keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: LocalizedStringKey
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        public func searchable<Element>(
            text: Binding<String>, collection: ObservedResults<Element>, keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: some StringProtocol
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        public func searchable<Key, Element>(
            text: Binding<String>, collection: ObservedSectionedResults<Key, Element>,
            keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: Text? = nil
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        public func searchable<Key, Element>(
            text: Binding<String>, collection: ObservedSectionedResults<Key, Element>,
            keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: LocalizedStringKey
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        public func searchable<Key, Element>(
            text: Binding<String>, collection: ObservedSectionedResults<Key, Element>,
            keyPath: KeyPath<Element, String>,
            placement: SearchFieldPlacement = .automatic, prompt: some StringProtocol
        ) -> some View {
            searchable(text: text, placement: placement, prompt: prompt).narrowing(collection.query, keyPath, text)
        }

        /// Applies the search outside rendering, during which nothing may change.
        private func narrowing<Element>(
            _ query: ObservedQuery<Element>, _ keyPath: KeyPath<Element, String>, _ text: Binding<String>
        ) -> some View {
            onChange(of: text.wrappedValue, initial: true) { _, text in query.search(text, keyPath) }
        }
    }
#endif
