internal import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

/// The partition that a Realm synchronises with: its value, and the name of its file.
struct Partition: Hashable, Sendable {
    let value: Value
    private let prefix: String

    init<T: PartitionValue>(_ value: T) {
        self.value = value._partitionValue
        prefix = T._partitionPrefix
    }

    static func == (left: Partition, right: Partition) -> Bool { left.value == right.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }

    /// As in Realm: `s_user%3D1`, or `null`. A name too long for the file system is hashed.
    var fileName: String {
        let text: String
        switch value {
        case .string(let value): text = value
        case .int(let value): text = "\(value)"
        case .objectId(let value): text = value.stringValue
        case .uuid(let value): text = value.uuidString.lowercased()
        default: return "null"
        }
        return FileName.fitting("\(prefix)_\(Self.encoded(text))")
    }

    /// Encodes everything but A–Z, a–z, 0–9, `-`, `.` and `_` as `%` and two digits per byte, so that different names
    /// stay different on every file system.
    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%\(digits.count < 2 ? "0" : "")\(digits)"
            }
        }
        return result
    }
}

extension SyncConfiguration {
    /// The partition that the Realm synchronises with, or nil if it has subscriptions. `NSNull` is the partition of the
    /// objects without a partition value.
    public var partitionValue: (any PartitionValue)? {
        switch partition?.value {
        case .string(let value): value
        case .int(let value): value
        case .objectId(let value): value
        case .uuid(let value): value
        case .null: NSNull()
        default: nil
        }
    }
}
