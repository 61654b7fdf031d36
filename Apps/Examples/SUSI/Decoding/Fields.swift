/// The members of an action. Records each one that exists but can't be read.
struct Fields {
    private let action: JSON
    let type: String?
    /// The names of unreadable members, in the order in which they were requested.
    private(set) var unread: [String] = []

    init(_ action: JSON) {
        self.action = action
        if case .string(let type)? = action["type"], !type.isEmpty { self.type = type } else { type = nil }
    }

    mutating func text(_ name: String) -> String { optionalText(name) ?? "" }

    mutating func optionalText(_ name: String) -> String? { read(name) { $0.string } }

    mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
        read(name) { $0.double.flatMap { range.contains($0) ? $0 : nil } }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        read(name) { $0.integer.flatMap { range.contains($0) ? $0 : nil } }
    }

    mutating func members(_ name: String) -> [JSON.Member]? {
        read(name) { if case .object(let members) = $0 { members } else { nil } }
    }

    /// `count`: the most rows to use. Nil for all of them, which servers write as -1.
    mutating func limit() -> Int? {
        let count = integer("count", in: -1...Int.max)
        return count == -1 ? nil : count
    }

    private mutating func read<Result>(_ name: String, _ convert: (JSON) -> Result?) -> Result? {
        guard let value = action[name] else { return nil }
        if let result = convert(value) { return result }
        unread.append(name)
        return nil
    }
}
