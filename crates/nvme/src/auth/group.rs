//! Diffie-Hellman over the groups of RFC 7919: a secret that only the two ends of a connection have.

use std::fmt;

use num_bigint::BigUint;

/// A group, by its identifier (NVMe Base 2.3, DH-HMAC-CHAP Diffie-Hellman group identifiers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DhGroup {
    /// None (00h): whoever hears the exchange can try secrets on it.
    Null = 0,
    /// ffdhe2048 (01h).
    Ffdhe2048 = 1,
    /// ffdhe3072 (02h).
    Ffdhe3072 = 2,
    /// ffdhe4096 (03h).
    Ffdhe4096 = 3,
    /// ffdhe6144 (04h).
    Ffdhe6144 = 4,
    /// ffdhe8192 (05h).
    Ffdhe8192 = 5,
}

/// The generator of all of them (RFC 7919, Appendix A).
const GENERATOR: u32 = 2;

impl DhGroup {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Null, Self::Ffdhe2048, Self::Ffdhe3072, Self::Ffdhe4096, Self::Ffdhe6144, Self::Ffdhe8192];

    /// The one with this identifier.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.id() == id)
    }

    /// Its identifier.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Bytes of its numbers; 0 for none.
    pub const fn len_bytes(self) -> usize {
        let (begins, ends) = self.digits();
        (begins.len() + ends.len()) / 2
    }

    /// The prime in hexadecimal digits: those it shares with the largest, and how it ends.
    const fn digits(self) -> (&'static str, &'static str) {
        match self {
            Self::Null => ("", ""),
            Self::Ffdhe2048 => (FFDHE8192.split_at(490).0, "285C97FFFFFFFFFFFFFFFF"),
            Self::Ffdhe3072 => (FFDHE8192.split_at(746).0, "C62E37FFFFFFFFFFFFFFFF"),
            Self::Ffdhe4096 => (FFDHE8192.split_at(1002).0, "655F6AFFFFFFFFFFFFFFFF"),
            Self::Ffdhe6144 => (FFDHE8192.split_at(1512).0, "D0E40E65FFFFFFFFFFFFFFFF"),
            Self::Ffdhe8192 => (FFDHE8192, ""),
        }
    }

    fn prime(self) -> BigUint {
        let (begins, ends) = self.digits();
        BigUint::parse_bytes(format!("{begins}{ends}").as_bytes(), 16).unwrap_or_default()
    }
}

impl fmt::Display for DhGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            group => write!(f, "ffdhe{}", group.len_bytes() * 8),
        }
    }
}

/// A Diffie-Hellman number that is none of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadNumber;

/// A private exponent with the number that the other side is told.
pub(super) struct KeyPair {
    group: DhGroup,
    exponent: BigUint,
}

impl KeyPair {
    pub(super) fn new(group: DhGroup, exponent: &[u8]) -> Self {
        Self { group, exponent: BigUint::from_bytes_be(exponent) }
    }

    /// What the other side is told; nothing for the NULL group.
    pub(super) fn public(&self) -> Vec<u8> {
        self.power(&BigUint::from(GENERATOR))
    }

    /// The shared secret, `None` with the NULL group.
    ///
    /// # Errors
    /// The other side's number is none of the group.
    pub(super) fn agreed(&self, other: &[u8]) -> Result<Option<Vec<u8>>, BadNumber> {
        match self.group {
            DhGroup::Null if other.is_empty() => Ok(None),
            DhGroup::Null => Err(BadNumber),
            _ => self.shared(other).map(Some).ok_or(BadNumber),
        }
    }

    /// The shared secret; `None` where the other side's number is none of the group: of another length, or one that
    /// gives the secret away (RFC 7919, 5.1: 1 < y < p-1).
    fn shared(&self, other: &[u8]) -> Option<Vec<u8>> {
        if other.len() != self.group.len_bytes() {
            return None;
        }
        let number = BigUint::from_bytes_be(other);
        let one = BigUint::from(1_u32);
        (number > one && number < self.group.prime() - one).then(|| self.power(&number))
    }

    /// `base` to the private exponent, big-endian and with leading zeros, as Linux pads it (crypto/dh.c).
    fn power(&self, base: &BigUint) -> Vec<u8> {
        if self.group == DhGroup::Null {
            return Vec::new();
        }
        let number = base.modpow(&self.exponent, &self.group.prime()).to_bytes_be();
        let mut padded = vec![0; self.group.len_bytes().saturating_sub(number.len())];
        padded.extend(number);
        padded
    }
}

// RFC 7919, Appendix A.5. The primes of A.1 to A.4 begin with the same digits, those of e, and end otherwise.
const FFDHE8192: &str = "\
    FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FBCC939DCE249B3EF97D2F\
    E363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0856365553DED1AF3B557135E7F57C935984F0C70\
    E0E68B77E2A689DAF3EFE8721DF158A136ADE73530ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7\
    F4681D4F42A3DE394DF4AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF\
    8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA886B4238611FCFDCDE35\
    5B3B6519035BBC34F4DEF99C023861B46FC9D6E6C9077AD91D2691F7F7EE598CB0FAC186D91CAEFE130985139270B4130C93\
    BC437944F4FD4452E2D74DD364F2E21E71F54BFF5CAE82AB9C9DF69EE86D2BC522363A0DABC521979B0DEADA1DBF9A42D5C4\
    484E0ABCD06BFA53DDEF3C1B20EE3FD59D7C25E41D2B669E1EF16E6F52C3164DF4FB7930E9E4E58857B6AC7D5F42D69F6D18\
    7763CF1D5503400487F55BA57E31CC7A7135C886EFB4318AED6A1E012D9E6832A907600A918130C46DC778F971AD00380929\
    99A333CB8B7A1A1DB93D7140003C2A4ECEA9F98D0ACC0A8291CDCEC97DCF8EC9B55A7F88A46B4DB5A851F44182E1C68A007E\
    5E0DD9020BFD64B645036C7A4E677D2C38532A3A23BA4442CAF53EA63BB454329B7624C8917BDD64B1C0FD4CB38E8C334C70\
    1C3ACDAD0657FCCFEC719B1F5C3E4E46041F388147FB4CFDB477A52471F7A9A96910B855322EDB6340D8A00EF092350511E3\
    0ABEC1FFF9E3A26E7FB29F8C183023C3587E38DA0077D9B4763E4E4B94B2BBC194C6651E77CAF992EEAAC0232A281BF6B3A7\
    39C1226116820AE8DB5847A67CBEF9C9091B462D538CD72B03746AE77F5E62292C311562A846505DC82DB854338AE49F5235\
    C95B91178CCF2DD5CACEF403EC9D1810C6272B045B3B71F9DC6B80D63FDD4A8E9ADB1E6962A69526D43161C1A41D570D7938\
    DAD4A40E329CCFF46AAA36AD004CF600C8381E425A31D951AE64FDB23FCEC9509D43687FEB69EDD1CC5E0B8CC3BDF64B10EF\
    86B63142A3AB8829555B2F747C932665CB2C0F1CC01BD70229388839D2AF05E454504AC78B7582822846C0BA35C35F5C5916\
    0CC046FD8251541FC68C9C86B022BB7099876A460E7451A8A93109703FEE1C217E6C3826E52C51AA691E0E423CFC99E9E316\
    50C1217B624816CDAD9A95F9D5B8019488D9C0A0A1FE3075A577E23183F81D4A3F2FA4571EFC8CE0BA8A4FE8B6855DFE72B0\
    A66EDED2FBABFBE58A30FAFABE1C5D71A87E2F741EF8C1FE86FEA6BBFDE530677F0D97D11D49F7A8443D0822E506A9F4614E\
    011E2A94838FF88CD68C8BB7C5C6424CFFFFFFFFFFFFFFFF";

#[cfg(test)]
mod test {
    use super::*;

    /// The primes are made from the digits of e, so all begin alike, and both ends are ones (RFC 7919, Appendix A).
    #[test]
    fn primes_are_as_long_as_their_names_say_and_begin_and_end_as_the_rfc_says() {
        let bits = [2048, 3072, 4096, 6144, 8192];
        let hex = |group: DhGroup| group.prime().to_str_radix(16).to_uppercase();
        for (group, bits) in DhGroup::ALL.into_iter().skip(1).zip(bits) {
            assert_eq!((group.prime().bits(), group.to_string()), (bits, format!("ffdhe{bits}")));
            let hex = hex(group);
            assert!(hex.starts_with("FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1"));
            assert!(hex.ends_with("FFFFFFFFFFFFFFFF"));
        }
        assert!(hex(DhGroup::Ffdhe2048).ends_with("886B423861285C97FFFFFFFFFFFFFFFF"));
        assert!(hex(DhGroup::Ffdhe8192).ends_with("D68C8BB7C5C6424CFFFFFFFFFFFFFFFF"));
        assert_eq!(DhGroup::Null.len_bytes(), 0);
    }

    #[test]
    fn both_sides_come_to_the_same_secret() {
        for group in [DhGroup::Ffdhe2048, DhGroup::Ffdhe3072] {
            let (one, other) = (KeyPair::new(group, &[7; 64]), KeyPair::new(group, &[9; 64]));
            let secret = one.shared(&other.public()).expect("a number of the group");
            assert_eq!(Some(&secret), other.shared(&one.public()).as_ref());
            assert_eq!(secret.len(), group.len_bytes());
            assert_ne!(Some(secret), KeyPair::new(group, &[8; 64]).shared(&other.public()));
        }
    }

    #[test]
    fn numbers_that_give_the_secret_away_are_refused() {
        let group = DhGroup::Ffdhe2048;
        let pair = KeyPair::new(group, &[7; 64]);
        let padded = |number: &BigUint| {
            let bytes = number.to_bytes_be();
            [vec![0; 256 - bytes.len()], bytes].concat()
        };
        let prime = group.prime();
        for bad in [BigUint::from(0_u8), BigUint::from(1_u8), &prime - 1_u8, prime.clone()] {
            assert_eq!(pair.shared(&padded(&bad)), None);
        }
        assert!(pair.shared(&padded(&(prime - 2_u8))).is_some());
        assert_eq!(pair.shared(&[5; 255]), None);
        assert_eq!(pair.shared(&[]), None);
    }
}
