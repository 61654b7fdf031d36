public import Logging
public import TomboloAuthentication
import TomboloLocalization

extension ServerConfiguration {
    /// Sends mails in the languages that come with the server, and in those of the operator's folder.
    /// - Returns: nil if nobody carries mails.
    /// - Throws: ``ConfigurationError`` if the folder can't be read.
    public func mailRoom(logger: Logger) throws(ConfigurationError) -> MailRoom? {
        guard let mail else { return nil }
        return MailRoom(mail, languages: try .ofEnvironment(over: MailTranslations.builtIn), logger: logger)
    }
}
