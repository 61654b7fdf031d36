public import TomboloModel

/// A checked export, as rows of the event models. Ids are derived from the export, so every import of it creates the
/// same objects.
public struct OpenEventExport: Sendable {
    /// The rows of one class.
    public struct Part: Sendable {
        public let className: String
        /// The file that the rows are from.
        public let file: String
        /// The number of records in the file. Records that are set aside or marked as deleted don't become rows.
        public let recordCount: Int
        /// The number of records that are set aside.
        public let setAsideCount: Int
        public internal(set) var rows: [Row]
    }

    /// A person with an e-mail address, who becomes a user unless one exists with this address.
    struct Person: Sendable {
        let email: String
        let name: String
    }

    public let eventID: ObjectId
    public let eventName: String
    /// Ordered so that no row links to a later one.
    public let parts: [Part]
    /// Oddities that were imported anyway.
    public let notes: [OpenEventNote]
    /// What isn't imported, in the order of the files: every problem of every record that is set aside and of every
    /// link that is left out.
    public let setAside: [OpenEventProblem]
    let people: [Person]
    /// The e-mail addresses of speakers, by key.
    let emailOfSpeaker: [ObjectId: String]
}
