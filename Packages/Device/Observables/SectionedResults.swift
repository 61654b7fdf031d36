public import Tombolo

/// Results divided into sections by a key, at one moment. Sections are in the order in which their keys first occur in
/// the results. Objects are in the results' order.
public struct SectionedResults<Key: Hashable, Element: RealmCollectionValue>: RandomAccessCollection {
    private let sections: [ResultsSection<Key, Element>]

    /// Reads all of the results once to get their keys.
    public init(_ results: Results<Element>, by key: (Element) -> Key) {
        var positions: [Key: [Int]] = [:]
        var keys: [Key] = []
        for (position, element) in results.enumerated() {
            let key = key(element)
            if positions[key] == nil { keys.append(key) }
            positions[key, default: []].append(position)
        }
        sections = keys.map { ResultsSection(key: $0, results: results, positions: positions[$0] ?? []) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }
    public subscript(position: Int) -> ResultsSection<Key, Element> { sections[position] }

    /// The sections' keys, in order.
    public var allKeys: [Key] { sections.map(\.key) }
}

/// The results that have the same key.
public struct ResultsSection<Key: Hashable, Element: RealmCollectionValue>: RandomAccessCollection, Identifiable {
    public let key: Key
    private let results: Results<Element>
    private let positions: [Int]

    init(key: Key, results: Results<Element>, positions: [Int]) {
        self.key = key
        self.results = results
        self.positions = positions
    }

    public var id: Key { key }
    public var startIndex: Int { 0 }
    public var endIndex: Int { positions.count }
    public subscript(position: Int) -> Element { results[positions[position]] }
}
