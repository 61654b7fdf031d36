/// The form in which the server sends values.
public enum PostgresResultFormat: Int32, Sendable {
    /// PostgreSQL's text form. Needed only for types without a binary form, such as `aclitem`.
    case text = 0
    /// The compact form that cells decode without parsing text.
    case binary = 1
}
