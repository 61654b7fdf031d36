public import Foundation
public import Tombolo

/// The objects of a class that a view lists in sections.
@MainActor
public final class ObservedSections<Key: Hashable, Element: Object> {
    /// The objects. You may change the query's condition. Its order must keep a section's objects together for the
    /// sections to appear sorted.
    public let query: ObservedQuery<Element>
    private let key: (Element) -> Key
    private var known: (results: Results<Element>, sections: SectionedResults<Key, Element>)?

    public init(_ query: ObservedQuery<Element>, by key: @escaping (Element) -> Key) {
        self.query = query
        self.key = key
    }

    /// What to render, from a frozen copy of the results.
    public var shown: SectionedResults<Key, Element> {
        let results = query.shown
        // In a write transaction the results are live.
        if let known, known.results == results, results.isFrozen { return known.sections }
        let sections = SectionedResults(results, by: key)
        known = (results, sections)
        return sections
    }

    /// Deletes the objects that were shown at these positions of a section. Has no effect on objects that are gone.
    public func remove(atOffsets offsets: IndexSet, section: ResultsSection<Key, Element>) {
        query.delete(offsets.filter { $0 < section.count }.map { section[$0] })
    }
}
