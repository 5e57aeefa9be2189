"""stub"""
from lrlm.text.token_space import TokenSpace
class SubwordSpace(TokenSpace):
    """stub"""
