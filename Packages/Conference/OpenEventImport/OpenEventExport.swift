public import TomboloModel

/// A checked export, as rows of the event models. Its ids follow from the export, so that every import of it makes
/// the same objects.
public struct OpenEventExport: Sendable {
    /// The rows of one class.
    public struct Part: Sendable {
        public let className: String
        /// The file that the rows are from.
        public let file: String
        /// How many records the file has; those that are set aside or marked as deleted make no row.
        public let recordCount: Int
        /// How many of them are set aside.
        public let setAsideCount: Int
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
    /// What is not imported, in the order of the files: every problem of every record that is set aside, and of every
    /// link that is left out.
    public let setAside: [OpenEventProblem]
    let people: [Person]
    /// The e-mail addresses of speakers, by key.
    let emailOfSpeaker: [ObjectId: String]
}
