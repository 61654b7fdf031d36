import TomboloJSONAPI
import TomboloModel

/// What the choosers of one page offer, read once for each class.
final class FormChoices {
    private var few: [Int: [RecordReader.Choice]?] = [:]
    private var titles: [RecordReader.Target: String] = [:]

    /// All objects of a class; nil if they are more than a chooser shows at once.
    func few(of type: ResourceType, _ reader: RecordReader) async throws -> [RecordReader.Choice]? {
        if let known = few[type.classIndex] { return known }
        // In the order of their keys, which have an index: to find that there are too many must not sort them all.
        let found = try await reader.choices(
            of: type, matching: .constant(true), limit: RecordReader.choiceCount + 1, isByTitle: false)
        let result = found.count <= RecordReader.choiceCount ? found.sorted { $0.title < $1.title } : nil
        few[type.classIndex] = .some(result)
        return result
    }

    /// Titles of objects by their ids, of those that the caller may see.
    func titles(of type: ResourceType, among ids: [String], _ reader: RecordReader) async throws -> [String: String] {
        func target(_ id: String) -> RecordReader.Target { RecordReader.Target(classIndex: type.classIndex, id: id) }
        let unknown = ids.filter { titles[target($0)] == nil }
        for choice in try await reader.choices(of: type, among: unknown) { titles[target(choice.id)] = choice.title }
        return Dictionary(ids.compactMap { id in titles[target(id)].map { (id, $0) } }) { first, _ in first }
    }
}
