public import TomboloModel

/// A checked export, as rows of the event models. Its ids follow from the export, so that every import of it makes
/// the same objects.
public struct OpenEventExport: Sendable {
    /// The rows of one class.
    public struct Part: Sendable {
        public let className: String
        /// The file that the rows are from.
        public let file: String
        /// How many records the file has; those that are marked as deleted make no row.
        public let recordCount: Int
        public internal(set) var rows: [Row]
    }

    /// Somebody with an e-mail address, who becomes a user where there is none with it.
    struct Person: Sendable {
        let email: String
        let name: String
    }

    public let eventID: ObjectId
    public let eventName: String
    /// In an order in which no row links to a later one.
    public let parts: [Part]
    /// What was odd and imported all the same.
    public let notes: [OpenEventNote]
    let people: [Person]
    /// The e-mail addresses of speakers, by key.
    let emailOfSpeaker: [ObjectId: String]
}
