public import PostgresClient
public import TomboloSyncSession

/// The connection of a transaction that applies an upload.
public struct PostgresUploadDatabase: UploadDatabase {
    /// For reading alone.
    public let connection: PostgresConnection
}
