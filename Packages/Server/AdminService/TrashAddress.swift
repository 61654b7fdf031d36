package import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloLocalization
package import TomboloModel

/// What to restore: everything that was trashed together, or one object.
///
/// An ObjectId stands alone, since no two objects share one. Other keys may occur in several classes, so they carry
/// the class's name, as in `Invoice:2026-17`. Two addresses are equal if their bytes are, like keys in the database.
package enum TrashAddress: Sendable {
    case group(UUID)
    case object(ObjectId)
    /// A class and the text of a key that isn't an ObjectId.
    case keyed(className: String, key: String)

    /// - Throws: ``RequestFailure`` with status 400 for any other text.
    package init(_ text: String?) throws {
        if let id = text.flatMap({ try? ObjectId(string: $0) }) {
            self = .object(id)
        } else if let id = text.flatMap(UUID.init(uuidString:)) {
            self = .group(id)
        } else if let text, let address = Self.keyed(text) {
            self = address
        } else {
            throw RequestFailure(
                .badRequest, localized("The address contains neither an object's id nor a group's."),
                hint: "GET /admin/trash lists both.", pageHint: localized("Start from the list of the trash."))
        }
    }

    /// Finds the colon as a byte: if the key begins with a combining mark, Swift merges the two into one character.
    private static func keyed(_ text: String) -> TrashAddress? {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex, !bytes.contains(0),
            let className = String(bytes[..<colon]), let key = String(bytes[bytes.index(after: colon)...])
        else { return nil }
        return .keyed(className: className, key: key)
    }

    /// The address of an object.
    package init(_ className: String, _ key: Value) {
        self = if case .objectId(let id) = key { .object(id) } else { .keyed(className: className, key: key.keyText) }
    }

    var isGroup: Bool { if case .group = self { true } else { false } }

    /// The text that ``init(_:)`` reads.
    package var text: String {
        switch self {
        case .group(let id): id.uuidString.lowercased()
        case .object(let id): id.stringValue
        case .keyed(let className, let key): "\(className):\(key)"
        }
    }

    /// The column of the class that holds the address, quoted, and its value; nil if the address isn't of this class.
    func condition(_ item: ClassSchema) throws -> (column: String, value: PostgresParameter)? {
        switch self {
        case .group(let id): return ("trash_group", .uuid(id))
        case .object(let id): return item.primaryKey?.type == .objectId ? (Trash.key(item), .objectId(id)) : nil
        case .keyed(let className, let text):
            guard className == item.name, let type = item.primaryKey?.type, let key = Trash.key(text, item) else {
                return nil
            }
            return (Trash.key(item), try PostgresParameter(key, as: type))
        }
    }
}

extension TrashAddress: Hashable {
    package static func == (left: TrashAddress, right: TrashAddress) -> Bool { left.text.hasBytes(of: right.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(Value.string(text)) }
}
