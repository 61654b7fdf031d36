internal import Foundation
internal import TomboloModel

/// The place of an encrypted value. It's authenticated with the value, so that the value can't be decrypted anywhere
/// else.
///
///     offset 0   2, the form; the first form began with the name of a class
///            1   the class's name, 0, the property's name, 0: no name has a NUL
///                the kind of the key: 1 integer, 2 text, 3 ObjectId, 4 UUID
///                the key: 8 bytes, big-endian; UTF-8; 12 bytes; 16 bytes
struct ValuePlace {
    /// The encoding of places. A file has one form; see ``FileMeta/format``.
    enum Form: UInt8 {
        /// The key as shown in messages, with only the first 40 characters of a string. In this form, values could be
        /// moved between rows whose keys start with the same characters. It's now only read, in files that can't be
        /// written.
        case shortenedKey = 1
        /// The whole key, with its type.
        case wholeKey = 2

        static let current = wholeKey
    }

    private let className: String
    private let property: String
    private let key: Value

    /// - Parameter key: the row's primary key, or its rowid if the class has none.
    init(_ className: String, _ property: String, _ key: Value) {
        self.className = className
        self.property = property
        self.key = key
    }

    /// - Throws: ``SQLiteStoreError`` if no row can have the key.
    func bytes(_ form: Form) throws -> Data {
        switch form {
        case .shortenedKey: return Data("\(className)\0\(property)\0\(try shortenedKey())".utf8)
        case .wholeKey:
            var bytes = Data([form.rawValue])
            bytes += Data("\(className)\0\(property)\0".utf8)
            switch key {
            case .int(let number): bytes += [1] + withUnsafeBytes(of: number.bigEndian) { Data($0) }
            case .string(let text): bytes += [2] + Data(text.utf8)
            case .objectId(let id): bytes += [3] + Data(id.bytes)
            case .uuid(let id): bytes += [4] + withUnsafeBytes(of: id.uuid) { Data($0) }
            default: throw noKey
            }
            return bytes
        }
    }

    private var noKey: SQLiteStoreError {
        SQLiteStoreError(
            .invalidInput, "'\(className).\(property)' is encrypted, so \(key) cannot be its object's primary key.")
    }

    /// This must never change: files contain values encrypted with it.
    private func shortenedKey() throws -> String {
        switch key {
        case .int(let number): return "\(number)"
        case .string(let text): return text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
        case .objectId(let id): return id.stringValue
        case .uuid(let id): return id.uuidString.lowercased()
        default: throw noKey
        }
    }
}
