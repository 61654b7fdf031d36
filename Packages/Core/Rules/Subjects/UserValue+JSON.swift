public import Foundation
public import TomboloModel

extension UserValue {
    /// The most bytes of JSON in a user's data or custom data. Every session keeps them in memory.
    public static let maximumByteCount = 64 << 10
    /// How deep arrays and objects in a user's data may nest.
    public static let maximumDepth = 16

    /// Decodes JSON, as PostgreSQL returns it for a `jsonb` column.
    /// - Throws: ``TomboloModel/ValueError`` for text that isn't JSON, is too long or nests too deep.
    public init(json: some DataProtocol) throws(ValueError) {
        guard json.count <= Self.maximumByteCount else {
            throw ValueError(
                "User data has \(json.count) bytes of JSON; at most \(Self.maximumByteCount) are allowed.")
        }
        do {
            self = try JSONDecoder().decode(UserValue.self, from: Data(json))
        } catch let error as ValueError {
            throw error
        } catch DecodingError.dataCorrupted(let context) {
            throw ValueError("User data isn't JSON: \(context.debugDescription)")
        } catch {
            throw ValueError("User data isn't JSON.")
        }
    }
}

extension UserValue: Decodable {
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw ValueError("User data nests deeper than \(Self.maximumDepth) levels.")
        }
        if let values = try? decoder.container(keyedBy: AnyKey.self) {
            var object: [String: UserValue] = [:]
            for key in values.allKeys { object[key.stringValue] = try values.decode(UserValue.self, forKey: key) }
            self = .object(object)
            return
        }
        if var values = try? decoder.unkeyedContainer() {
            var array: [UserValue] = []
            while !values.isAtEnd { array.append(try values.decode(UserValue.self)) }
            self = .array(array)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .int(number)
        } else if let number = try? value.decode(Double.self) {
            self = .double(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else {
            throw ValueError("User data has a number that doesn't fit in a Double.")
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
