internal import Foundation
internal import PostgresClient
public import TomboloModel

/// A constant as a person would write it, so that values reach PostgreSQL by another path than the store's.
public func postgresLiteral(_ value: Value) -> String {
    func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = bytes.map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }
        return "'\\x\(digits.joined())'::bytea"
    }
    switch value {
    case .null: return "NULL"
    case .bool(let flag): return flag ? "true" : "false"
    case .int(let number): return "'\(number)'::bigint"
    case .double(let number): return "'\(number)'::double precision"
    case .string(let text): return PostgresSQL.quoteLiteral(text)
    case .data(let data): return hex(data)
    case .objectId(let id): return hex(id.bytes)
    case .uuid(let id): return "'\(id.uuidString)'::uuid"
    case .decimal(let number): return "'\(number)'::numeric"
    case .date(let microseconds):
        let day: Int64 = 86_400_000_000
        let rest = (microseconds % day + day) % day
        let days = (microseconds - rest) / day
        return "('epoch'::timestamptz + \(days) * interval '1 day' + \(rest) * interval '1 microsecond')"
    }
}
