public import Logging
public import TomboloAuthentication
import TomboloLocalization

extension ServerConfiguration {
    /// Sends mail in the languages that come with the server and those in the operator's folder.
    /// - Returns: nil if no mail hook is configured.
    /// - Throws: ``ConfigurationError`` if the folder can't be read.
    public func mailRoom(logger: Logger) throws(ConfigurationError) -> MailRoom? {
        guard let mail else { return nil }
        return MailRoom(mail, languages: try .ofEnvironment(over: MailTranslations.builtIn), logger: logger)
    }
}
