/// OIDs of the built-in types that this client encodes or decodes (`pg_type.dat` in PostgreSQL's source), named like
/// the types.
public enum PostgresOID {
    /// The server infers the type from the statement.
    public static let inferred: UInt32 = 0
    public static let bool: UInt32 = 16
    public static let bytea: UInt32 = 17
    public static let char: UInt32 = 18
    public static let name: UInt32 = 19
    public static let int8: UInt32 = 20
    public static let int2: UInt32 = 21
    public static let int4: UInt32 = 23
    public static let text: UInt32 = 25
    public static let oid: UInt32 = 26
    public static let xid: UInt32 = 28
    public static let cid: UInt32 = 29
    public static let json: UInt32 = 114
    public static let xml: UInt32 = 142
    public static let float4: UInt32 = 700
    public static let float8: UInt32 = 701
    public static let unknown: UInt32 = 705
    public static let bpchar: UInt32 = 1042
    public static let varchar: UInt32 = 1043
    public static let date: UInt32 = 1082
    public static let timestamp: UInt32 = 1114
    public static let timestamptz: UInt32 = 1184
    public static let numeric: UInt32 = 1700
    public static let regclass: UInt32 = 2205
    public static let void: UInt32 = 2278
    public static let uuid: UInt32 = 2950
    public static let lsn: UInt32 = 3220
    public static let jsonb: UInt32 = 3802
    public static let xid8: UInt32 = 5069

    public static let boolArray: UInt32 = 1000
    public static let byteaArray: UInt32 = 1001
    public static let int4Array: UInt32 = 1007
    public static let textArray: UInt32 = 1009
    public static let int8Array: UInt32 = 1016
    public static let float8Array: UInt32 = 1022
    public static let timestamptzArray: UInt32 = 1185
    public static let numericArray: UInt32 = 1231
    public static let jsonbArray: UInt32 = 3807
    public static let uuidArray: UInt32 = 2951

    /// The lowest OID of types defined in a database (enums, extensions, arrays of domains).
    public static let firstUserDefined: UInt32 = 16_384
}
