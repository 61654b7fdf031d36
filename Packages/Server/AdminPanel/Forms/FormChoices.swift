import TomboloJSONAPI
import TomboloModel

/// What the choosers of one page offer, read once for each combination of class and narrowing.
final class FormChoices {
    private struct Offer: Hashable {
        let classIndex: Int
        let keys: [String: Value]
    }

    private var few: [Offer: [RecordReader.Choice]?] = [:]
    private var titles: [RecordReader.Target: String] = [:]

    /// All objects on offer; nil if there are more than a chooser lists.
    func few(
        of type: ResourceType, _ reader: RecordReader, _ narrowing: ChoiceNarrowing = .none
    ) async throws -> [RecordReader.Choice]? {
        let offer = Offer(classIndex: type.classIndex, keys: narrowing.keys)
        if let known = few[offer] { return known }
        // In key order, which has an index: finding out that there are too many must not require sorting them all.
        let found = try await reader.choices(
            of: type, matching: narrowing.predicate, limit: RecordReader.choiceCount + 1, isByTitle: false)
        let result = found.count <= RecordReader.choiceCount ? found.sorted { $0.title < $1.title } : nil
        few[offer] = .some(result)
        return result
    }

    /// Titles of objects by id, as far as the caller may see them.
    func titles(of type: ResourceType, among ids: [String], _ reader: RecordReader) async throws -> ChoiceTitles {
        func target(_ id: String) -> RecordReader.Target { RecordReader.Target(classIndex: type.classIndex, id: id) }
        let unknown = ids.filter { titles[target($0)] == nil }
        for choice in try await reader.choices(of: type, among: unknown) { titles[target(choice.id)] = choice.title }
        return ChoiceTitles(ids.compactMap { id in titles[target(id)].map { RecordReader.Choice(id: id, title: $0) } })
    }

    /// The same choices. Those with equal titles also say where their shared links lead: `Main Hall (Island Days)`.
    func toldApart(
        _ choices: [RecordReader.Choice], of type: ResourceType, _ narrowing: ChoiceNarrowing, _ reader: RecordReader
    ) async throws -> [RecordReader.Choice] {
        let repeated = Dictionary(grouping: choices, by: \.title).values.filter { $0.count > 1 }.joined().map(\.id)
        guard !repeated.isEmpty, !narrowing.links.isEmpty else { return choices }
        let linked = try await reader.linked(type, among: repeated, narrowing.links.map(\.theirs))
        // Keyed by the choices' ids as `Value.string`, which compares by bytes.
        var details: [Value: [String]] = [:]
        for link in narrowing.links {
            let ids = linked.compactMapValues { $0[link.theirs.name] }
            let titles = try await self.titles(of: link.target, among: Array(ids.values), reader)
            for (id, other) in ids { if let title = titles[other] { details[id, default: []].append(title) } }
        }
        return choices.map { choice in
            guard let details = details[.string(choice.id)] else { return choice }
            return RecordReader.Choice(id: choice.id, title: "\(choice.title) (\(details.joined(separator: ", ")))")
        }
    }
}
