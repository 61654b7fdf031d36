public import PostgresClient
public import TomboloSyncSession

/// The connection of a transaction that applies an upload.
public struct PostgresUploadDatabase: UploadDatabase {
    /// Only for reading.
    public let connection: PostgresConnection
}
