internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

/// A refusal in the JSON form that a receipt keeps.
struct StoredRefusal: Codable {
    private let code: String
    private let message: String
    private let `class`: String?
    private let key: String?
    private let role: String?

    private init(_ refusal: Refusal) {
        let key = refusal.key.flatMap { KeyText.text($0) }
        code = refusal.code.rawValue
        // PostgreSQL can't hold U+0000.
        message = refusal.message.filter { $0 != "\0" }.shortened(toByteCount: StoreLimits.textLength)
        `class` = refusal.className
        self.key = key.flatMap { $0.contains("\0") || $0.utf8.count > StoreLimits.textLength ? nil : $0 }
        role = refusal.role?.filter { $0 != "\0" }
    }

    private func refusal(_ layout: StoreLayout) -> Refusal {
        let item = `class`.flatMap { layout.schema.index(of: $0) }.flatMap { layout.classes[$0] }
        return Refusal(
            Refusal.Code(rawValue: code) ?? .setAside, message, className: `class`,
            key: key.flatMap { text in item.flatMap { KeyText.value(text, $0.keyType) } }, role: role)
    }

    /// The JSON of a changeset's refusals for its receipt, or nil if there are none.
    static func json(_ refusals: [Refusal]) throws -> String? {
        guard !refusals.isEmpty else { return nil }
        return String(decoding: try JSONEncoder().encode(refusals.map(StoredRefusal.init)), as: UTF8.self)
    }

    static func read(_ json: String, _ layout: StoreLayout) throws -> [Refusal] {
        try JSONDecoder().decode([StoredRefusal].self, from: Data(json.utf8)).map { $0.refusal(layout) }
    }
}
